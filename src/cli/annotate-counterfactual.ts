/**
 * keepready annotate --annotator counterfactual: what an interaction changes about the probability of later actions,
 * against placebos.
 */
import { basename, resolve } from 'node:path'
import { labelAll, measureAll, planAnnotation } from '../../data/annotate/counterfactual/annotate-counterfactual.ts'
import { counterfactualName } from '../../data/annotate/counterfactual/label-run.ts'
import { requireRoom } from '../../data/annotate/counterfactual/measured-views.ts'
import type { MeasurementsIdentity } from '../../data/annotate/counterfactual/measurement.schema.ts'
import { type MeasurementFile, openMeasurements } from '../../data/annotate/counterfactual/measurement-file.ts'
import { type ActionPlan, costOfPlans } from '../../data/annotate/counterfactual/plan-actions.ts'
import { type CounterfactualReport, counterfactualReport } from '../../data/annotate/counterfactual/report.ts'
import type { CounterfactualSettings } from '../../data/annotate/counterfactual/settings.ts'
import { nodeFiles, writeTextWhole } from '../../data/store/file-seam.ts'
import { hashFile } from '../../data/store/hash-file.ts'
import { writeLabels } from '../../data/store/labels.ts'
import { readRuns } from '../../data/store/runs.ts'
import { hashModelFiles } from '../../models/frozen-lm/hash-model.ts'
import { loadTokenScorer } from '../../models/frozen-lm/head/load-token-scorer.ts'
import type { TokenScorer } from '../../models/frozen-lm/head/token-scorer.ts'
import { loadTokenizer } from '../../models/tokenizer/hf-tokenizer.ts'
import type { Trajectory } from '../trajectory/trajectory.ts'
import { createViewEncoder, type ViewEncoder } from '../view/view-encoder.ts'
import type { CounterfactualJob } from './annotate-counterfactual-flags.ts'
import { counterfactualReportText } from './annotate-counterfactual-text.ts'
import type { CommandContext, CommandResult } from './command-context.ts'
import { findModel } from './find-model.ts'
import { formatCount, formatDuration, startProgress } from './progress.ts'

/** Code units of text whose tokens stay cached, as in extraction. */
const MAX_CACHED_CHARS = 16_000_000
const ENDING = '.measurements.jsonl'

interface Work {
  readonly context: CommandContext
  readonly settings: CounterfactualSettings
  readonly encoder: ViewEncoder
  readonly scorer: TokenScorer
}

export async function annotateByCounterfactual(
  context: CommandContext,
  request: { readonly runsPath: string; readonly out: string; readonly job: CounterfactualJob },
): Promise<CommandResult> {
  const { runsPath, out, job } = request
  const { settings, quantile } = job
  const runs = await readRuns(runsPath)
  const directory = await findModel(job.model, context)
  const name = basename(resolve(directory))
  const encoder = createViewEncoder(loadTokenizer(directory), {
    largestSection: Math.max(settings.headTokens, settings.recentTokens, settings.targetTokens, settings.actionTokens),
    maxCachedChars: MAX_CACHED_CHARS,
  })
  const scorer = await loadTokenScorer({ directory, viewTokens: 2048 })
  const work: Work = { context, settings, encoder, scorer }
  try {
    requireRoom(settings, scorer.contextLength)
    const plans = await planRuns(work, runs)
    const path = job.journal ?? `${out}${ENDING}`
    const estimate = await tellEstimate(work, plans)
    const annotator = counterfactualName(name)
    if (job.estimateOnly) return { data: { annotator, ...estimate.figures }, text: estimate.text }
    const identity: MeasurementsIdentity = {
      model: { name, filesSha256: hashModelFiles(directory) },
      runsSha256: (await hashFile(runsPath)).sha256,
      settings,
    }
    const file = await openMeasurements(path, identity)
    try {
      const measurements = await measurePlans(work, plans, file)
      const labels = labelAll(runs, { measurements, annotator, quantile })
      const report = counterfactualReport(runs, { labels, measurements, settings, quantile, annotator })
      await writeLabels(out, labels.rows)
      return await finish(request, { report, measurements: path })
    } finally {
      await file.close()
    }
  } finally {
    await scorer.close()
  }
}

async function planRuns(
  { context, settings, encoder }: Work,
  runs: readonly Trajectory[],
): Promise<readonly ActionPlan[]> {
  const progress = startProgress(context, { stage: 'tokenise', total: runs.length, unit: 'runs' })
  const plans = await planAnnotation(runs, {
    encoder,
    settings,
    signal: context.signal,
    onRun: (done) => progress.update(done),
  })
  progress.done(`${runs.length} runs, ${formatCount(plans.length)} actions to measure`)
  return plans
}

interface Estimate {
  readonly figures: {
    readonly actions: number
    readonly pairs: number
    readonly placebos: number
    readonly tokens: number
    readonly tokensPerSecond: number
    readonly seconds: number
  }
  readonly text: string
}

/** Said before anything is measured; the speed is that of a few runs on this machine, now. */
async function tellEstimate(work: Work, plans: readonly ActionPlan[]): Promise<Estimate> {
  const { context, settings } = work
  const cost = costOfPlans(plans, settings)
  const tokensPerSecond = await probeSpeed(work, plans)
  const seconds = cost.tokens / tokensPerSecond
  const text =
    `at most ${formatCount(cost.tokens)} tokens for ${formatCount(cost.targets)} pairs and ` +
    `${formatCount(cost.placebos)} placebos of ${formatCount(cost.actions)} actions: about ${formatDuration(seconds)} ` +
    `at ${formatCount(tokensPerSecond)} tokens/s`
  context.writeErr(`estimate: ${text}\n`)
  const { actions, targets: pairs, placebos } = cost
  return { figures: { actions, pairs, placebos, tokens: cost.tokens, tokensPerSecond, seconds }, text }
}

/** A context and a target as long as most. */
const PROBE_TOKENS = 256
const PROBE_RUNS = 3

/** Tokens a second of the best of a few runs over text of the first plan. */
async function probeSpeed({ context, settings, scorer }: Work, plans: readonly ActionPlan[]): Promise<number> {
  const text = plans[0]?.strata[0]?.targets[0]?.tokens ?? new Int32Array(0)
  if (text.length === 0) return 1
  const tokens = Int32Array.from({ length: PROBE_TOKENS }, (_, k) => text[k % text.length] ?? 0)
  const state = await scorer.read(tokens, null)
  let bestMs = Number.POSITIVE_INFINITY
  for (let k = 0; k < PROBE_RUNS; k++) {
    const startMs = context.nowMs()
    await scorer.score(tokens, { past: state, from: Math.max(1, PROBE_TOKENS - settings.actionTokens) })
    bestMs = Math.min(bestMs, context.nowMs() - startMs)
  }
  scorer.dispose(state)
  return PROBE_TOKENS / Math.max(bestMs / 1000, 1e-6)
}

async function measurePlans(work: Work, plans: readonly ActionPlan[], file: MeasurementFile) {
  const { context, settings } = work
  const there = file.earlier.length
  if (there > 0)
    context.writeErr(`annotate: ${file.path} holds ${there} of ${plans.length} actions; none is measured again\n`)
  const total = costOfPlans(plans.slice(there), settings).tokens
  const progress = startProgress(context, { stage: 'measure', total, unit: 'tokens' })
  let done = 0
  const measurements = await measureAll(plans, {
    ...work,
    file,
    signal: context.signal,
    onTokens: (tokens) => {
      done += tokens
      progress.update(done)
    },
  })
  progress.done(`${formatCount(plans.length - there)} actions, ${formatCount(done)} tokens`)
  return measurements
}

async function finish(
  request: { readonly runsPath: string; readonly out: string },
  made: { readonly report: CounterfactualReport; readonly measurements: string },
): Promise<CommandResult> {
  const { runsPath, out } = request
  const reportPath = `${out}.report.json`
  await writeTextWhole(nodeFiles, reportPath, `${JSON.stringify(made.report, null, 2)}\n`)
  const text = [
    counterfactualReportText(made.report),
    '',
    `wrote ${out}; report: ${reportPath}; measurements: ${made.measurements}`,
    `look at it with: keepready labels stats ${runsPath} ${out}`,
  ].join('\n')
  return { data: { out, report: reportPath, measurements: made.measurements, ...made.report }, text }
}

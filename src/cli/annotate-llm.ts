/**
 * keepready annotate --annotator llm: estimate, consent, two stages, labels and their report.
 */
import { labelStats, prevalence } from '../../data/annotate/label-stats.ts'
import { annotateLlm, type LlmResult } from '../../data/annotate/llm/annotate-llm.ts'
import { callKey } from '../../data/annotate/llm/call-key.ts'
import { type AnnotationEstimate, createEstimator, type EstimateOptions } from '../../data/annotate/llm/estimate.ts'
import { type Journal, type JournalAnswers, openJournal, readJournal } from '../../data/annotate/llm/journal.ts'
import { promptBudget } from '../../data/annotate/llm/limits.ts'
import { planRun } from '../../data/annotate/llm/plan-run.ts'
import { llmAnnotatorName, PROMPTS_SHA256 } from '../../data/annotate/llm/prompts/prompts.ts'
import { llmReport } from '../../data/annotate/llm/report.ts'
import type { RunText } from '../../data/annotate/llm/run-text.ts'
import { matchLabels } from '../../data/annotate/match-labels.ts'
import { nodeFiles, writeTextWhole } from '../../data/store/file-seam.ts'
import { writeLabels } from '../../data/store/labels.ts'
import { readRuns } from '../../data/store/runs.ts'
import { createOpenAiChat } from '../../models/chat/open-ai-chat.ts'
import { DEFAULT_RETRY } from '../../models/chat/retry.ts'
import { actingTokenizer } from '../../models/tokenizer/acting-tokens.ts'
import { chooseCheckpoints } from '../../training/choose-checkpoints.ts'
import { AppError } from '../errors.ts'
import { redactTrajectory } from '../redaction/redact-trajectory.ts'
import { createRng, deriveSeed } from '../rng.ts'
import type { Trajectory } from '../trajectory/trajectory.ts'
import type { LlmSettings } from './annotate-llm-flags.ts'
import { estimateText, noticeText, reportText, usd } from './annotate-llm-text.ts'
import type { CommandContext, CommandResult } from './command-context.ts'
import { formatCount, startProgress } from './progress.ts'

export interface LlmJob {
  readonly runsPath: string
  readonly out: string
  readonly settings: LlmSettings
  readonly seed: number
}

export async function annotateByLlm(context: CommandContext, job: LlmJob): Promise<CommandResult> {
  const { settings, out } = job
  promptBudget(settings.limits)
  const trajectories = await readRuns(job.runsPath)
  const { runs, masked } = await runTexts(context, trajectories, settings)
  const interactions = trajectories.reduce((sum, run) => sum + run.interactions.length, 0)
  const notice = noticeText(settings, { runs: runs.length, interactions, masked })
  const journalPath = settings.journal ?? `${out}.journal`
  if (settings.estimateOnly) {
    const estimate = await estimateAll(context, { runs, journal: await readJournal(journalPath), job })
    return {
      data: { endpoint: settings.endpoint.shown, model: settings.model, masked, ...estimate },
      text: `${notice}\n${estimateText(estimate, settings)}\nnothing was sent`,
    }
  }
  if (settings.consent === 'none') throw consentRequired(notice, settings)
  const journal = await openJournal(journalPath)
  try {
    tellJournal(context, journal)
    const estimate = await estimateAll(context, { runs, journal, job })
    context.writeErr(`${notice}\n${estimateText(estimate, settings)}\n`)
    const result = await askAll(context, { runs, journal, estimate, job })
    return await finish(job, { result, trajectories, journalPath })
  } finally {
    await journal.close()
  }
}

/** @returns masked: how many secrets --redact found; null without it */
async function runTexts(
  context: CommandContext,
  trajectories: readonly Trajectory[],
  settings: LlmSettings,
): Promise<{ readonly runs: readonly RunText[]; readonly masked: number | null }> {
  if (settings.consent !== 'redacted')
    return { runs: trajectories.map((original) => ({ original, sent: original })), masked: null }
  const runs: RunText[] = []
  let masked = 0
  for (const original of trajectories) {
    const { trajectory, counts } = redactTrajectory(original)
    masked += Object.values(counts).reduce((sum, count) => sum + count, 0)
    runs.push({ original, sent: trajectory })
    await new Promise((resolve) => setImmediate(resolve))
    context.signal.throwIfAborted()
  }
  return { runs, masked }
}

function tellJournal(context: CommandContext, journal: Journal): void {
  if (journal.earlier.length > 0)
    context.writeErr(
      `annotate: ${journal.path} holds ${journal.earlier.length} answers of earlier runs; none is asked for again\n`,
    )
  if (journal.tornBytes > 0)
    context.writeErr(`annotate: dropped a torn last line of ${journal.tornBytes} bytes from ${journal.path}\n`)
  if (journal.damagedLines > 0)
    context.writeErr(
      `annotate: ${journal.damagedLines} lines of ${journal.path} cannot be read; those are asked again\n`,
    )
}

async function estimateAll(
  context: CommandContext,
  work: { readonly runs: readonly RunText[]; readonly journal: JournalAnswers | null; readonly job: LlmJob },
): Promise<AnnotationEstimate> {
  const { runs, journal, job } = work
  const { limits, prices, model } = job.settings
  const { countTokens: count } = actingTokenizer(model)
  const isAnswered: EstimateOptions['isAnswered'] =
    journal === null || journal.earlier.length === 0
      ? () => false
      : ({ request }) => journal.get(callKey(model, request)) !== undefined
  const estimator = createEstimator({ limits, prices, isAnswered })
  const progress = startProgress(context, { stage: 'estimate', total: runs.length, unit: 'runs' })
  for (const [at, run] of runs.entries()) {
    estimator.add(planRun(run, { checkpoints: checkpointsOf(run, job), limits, count }))
    progress.update(at + 1)
    await new Promise((resolve) => setImmediate(resolve))
    context.signal.throwIfAborted()
  }
  const estimate = estimator.result()
  progress.done(`${formatCount(estimate.stageOne.calls)} stage-1 calls of ${runs.length} runs`)
  return estimate
}

/** The same draw as extract makes: by the id and length of the run, so that a dataset finds its checkpoints judged. */
function checkpointsOf(run: RunText, job: LlmJob): readonly number[] {
  return chooseCheckpoints(run.original, { max: job.settings.maxCheckpointsPerRun, seed: job.seed })
}

async function askAll(
  context: CommandContext,
  work: {
    readonly runs: readonly RunText[]
    readonly journal: Journal
    readonly estimate: AnnotationEstimate
    readonly job: LlmJob
  },
): Promise<LlmResult> {
  const { runs, journal, estimate, job } = work
  const { settings, seed } = job
  const total = estimate.stageOne.calls + estimate.stageTwo.calls
  const progress = startProgress(context, { stage: 'annotate', total, unit: 'calls' })
  const result = await annotateLlm({
    runs,
    journal,
    chat: createOpenAiChat({
      endpoint: settings.endpoint,
      model: settings.model,
      apiKey: settings.apiKey,
      rng: createRng(deriveSeed(seed, 'chat-retries')),
      stream: settings.stream,
      retry: { ...DEFAULT_RETRY, maxRetries: settings.maxRetries },
    }),
    checkpointsOf: (run) => checkpointsOf(run, job),
    limits: settings.limits,
    concurrency: settings.concurrency,
    prices: settings.prices,
    budgetUsd: settings.budgetUsd,
    count: actingTokenizer(settings.model).countTokens,
    signal: context.signal,
    onProgress: ({ callsDone, runsDone, retries, spentUsd }) => {
      const money = settings.prices === null ? '' : `, ${usd(spentUsd)}`
      progress.update(callsDone, `run ${runsDone}/${runs.length}, ${retries} retries${money}`)
    },
  })
  progress.done(`${formatCount(result.counters.asked)} answers, ${result.rows.length} of ${runs.length} runs labelled`)
  return result
}

async function finish(
  job: LlmJob,
  done: { readonly result: LlmResult; readonly trajectories: readonly Trajectory[]; readonly journalPath: string },
): Promise<CommandResult> {
  const { settings, out, runsPath } = job
  const { result, trajectories, journalPath } = done
  const report = llmReport(result, {
    annotator: llmAnnotatorName(settings.model),
    promptsSha256: PROMPTS_SHA256,
    endpoint: settings.endpoint.shown,
    model: settings.model,
    redacted: settings.consent === 'redacted',
    maxCheckpointsPerRun: settings.maxCheckpointsPerRun,
    seed: job.seed,
    trajectories,
    priced: settings.prices !== null,
  })
  const reportPath = `${out}.report.json`
  await writeTextWhole(nodeFiles, reportPath, `${JSON.stringify(report, null, 2)}\n`)
  if (result.rows.length > 0) await writeLabels(out, result.rows)
  const stopped = result.unfinished.length > 0
  const partial = stopped || result.counters.unanswered > 0
  const lines = [reportText(report), '', `report: ${reportPath}`, wroteLine(job, result, trajectories)]
  if (stopped)
    lines.push(
      `stopped at the budget of ${usd(settings.budgetUsd ?? 0)}: ${result.unfinished.length} runs are unfinished and ` +
        `have no labels yet; run the same command with a higher --budget, ${journalPath} has what was answered`,
    )
  else if (partial)
    lines.push(
      `${result.counters.unanswered} calls got no answer and their targets stay KEEP: run the same command again to ask those alone`,
    )
  if (result.rows.length > 0) lines.push(`look at it with: keepready labels stats ${runsPath} ${out}`)
  const written = result.rows.length > 0 ? out : null
  return {
    data: { out: written, report: reportPath, journal: journalPath, ...report },
    text: lines.join('\n'),
    partial,
  }
}

function wroteLine(job: LlmJob, result: LlmResult, trajectories: readonly Trajectory[]): string {
  if (result.rows.length === 0) return `no run is finished: ${job.out} was not written`
  const { all } = labelStats(matchLabels(trajectories, result.rows))
  return `wrote ${job.out}: ${result.rows.length} runs, ${formatCount(all.pairs)} pairs, ${(100 * prevalence(all)).toFixed(1)} % READY`
}

function consentRequired(notice: string, settings: LlmSettings): AppError {
  return new AppError(
    'consent-required',
    `nothing was sent. This would send history from this machine:\n${notice}\n` +
      'say --yes to send it as it is, --redact to mask secrets first, or --estimate to see calls, tokens and price',
    { details: { endpoint: settings.endpoint.shown, model: settings.model } },
  )
}

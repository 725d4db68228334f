/**
 * keepready extract: runs + labels -> dataset of hidden states.
 */
import { availableParallelism } from 'node:os'
import { Command, Option } from 'commander'
import { hashFile } from '../../../data/store/hash-file.ts'
import { readLabels } from '../../../data/store/labels.ts'
import { readRuns } from '../../../data/store/runs.ts'
import { describeRepresentation } from '../../../models/frozen-lm/describe-representation.ts'
import { describeSelfCheck } from '../../../models/frozen-lm/devices/self-check.ts'
import type { ExtractorOptions } from '../../../models/frozen-lm/extraction.ts'
import { memoryLine } from '../../../models/frozen-lm/memory-plan.ts'
import { planExtractorMemory } from '../../../models/frozen-lm/plan-extractor-memory.ts'
import { DEFAULT_PREFIX_CACHE_MB, prefixCacheBytes } from '../../../models/frozen-lm/prefix-cache.ts'
import { startProcessExtractor } from '../../../models/frozen-lm/process-extractor.ts'
import type { StorageDtype } from '../../../models/frozen-lm/representation.ts'
import { DEFAULT_MAX_CHECKPOINTS_PER_RUN } from '../../../training/choose-checkpoints.ts'
import { type ExtractProgress, type ExtractResult, extractDataset } from '../../../training/extract.ts'
import {
  createRecipe,
  DEFAULT_RECIPE,
  RECENT_WINDOWS,
  RECIPE_NAMES,
  type RecentWindow,
  type RecipeName,
} from '../../view/recipe.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import {
  type ExecutionFlags,
  executionOf,
  type VectorFlags,
  withExecutionOptions,
  withVectorOptions,
} from '../execution-options.ts'
import { findModel } from '../find-model.ts'
import { formatCount, type Progress, startProgress } from '../progress.ts'
import { withAction } from '../run-action.ts'
import { wholeNumber } from '../whole-number.ts'

export interface ExtractFlags extends ExecutionFlags, VectorFlags {
  readonly labels: string
  readonly model: string
  readonly layer: string
  readonly recipe: RecipeName
  readonly recentWindow?: RecentWindow
  readonly viewBudget: string
  readonly storage: StorageDtype
  readonly maxCheckpointsPerRun: string
  readonly workers: string
  readonly prefixCacheMb: string
  readonly out: string
  readonly fresh: boolean
  readonly seed: string
}

/** Two are enough for the machine keepready is sized for; each holds its own session. */
const DEFAULT_WORKERS = Math.min(2, availableParallelism())

export function createCommand(): Command {
  const command = new Command('extract')
    .summary('runs + labels -> dataset of hidden states')
    .description(
      'Reads every labelled checkpoint of every run through bounded views and stores the hidden states of a frozen ' +
        'language model at their last tokens. Stop it at any time: the same command goes on where it was. With new ' +
        'labels only the pairs are written again.',
    )
    .argument('<runs.jsonl>', 'runs as `keepready import` writes them')
    .requiredOption('--labels <labels.jsonl>', 'their labels as `keepready annotate` writes them')
    .requiredOption('--out <dataset>', 'directory of the dataset; it holds the text of the runs too')
    .option('--model <name>', 'tiny (embedded), a checkpoint directory, a .gguf file, or a pulled ORG/NAME', 'tiny')
    .option(
      '--layer <n>',
      'decoder layer whose output is read, 1-based; `default` is two thirds of the depth',
      'default',
    )
    .addOption(
      new Option(
        '--recipe <name>',
        'what a view reads (docs/views.md); once and full: one vector per interaction, others: one per pair',
      )
        .choices(RECIPE_NAMES)
        .default(DEFAULT_RECIPE.name),
    )
    .option('--view-budget <tokens>', 'most tokens of one view', String(DEFAULT_RECIPE.budgets.view))
    .addOption(
      new Option(
        '--recent-window <kind>',
        `fixed: the last 4 interactions; growing: 4 to 8, so that states are reused (default: ${DEFAULT_RECIPE.window} for ${DEFAULT_RECIPE.name}, else fixed)`,
      ).choices(RECENT_WINDOWS),
    )
    .addOption(new Option('--storage <dtype>', 'how vectors are stored').choices(['f16', 'f32']).default('f16'))
    .option(
      '--max-checkpoints-per-run <n>',
      'longer runs give this many, evenly spread',
      String(DEFAULT_MAX_CHECKPOINTS_PER_RUN),
    )
    .option(
      '--workers <n>',
      'model processes at work at the same time; the result does not depend on it',
      String(DEFAULT_WORKERS),
    )
    .option(
      '--prefix-cache-mb <n>',
      'memory of each process for states that later views start from, MiB; 0: none; the result does not depend on it',
      String(DEFAULT_PREFIX_CACHE_MB),
    )
    .option('--seed <n>', 'draws the checkpoints of long runs', '0')
    .option('--fresh', 'remove an older dataset in --out first', false)
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready extract runs.jsonl --labels labels.jsonl --model tiny --out dataset/\n' +
        '  $ keepready train dataset/ --out router/',
    )
  return withAction<ExtractFlags>(withVectorOptions(withExecutionOptions(command)), runExtract)
}

export async function runExtract(
  context: CommandContext,
  flags: ExtractFlags,
  [runsPath = '']: readonly string[],
): Promise<CommandResult> {
  const extractor = extractorOptions({ ...flags, model: await findModel(flags.model, context) })
  const maxCheckpointsPerRun = wholeNumber('--max-checkpoints-per-run', flags.maxCheckpointsPerRun, 1)
  const workers = wholeNumber('--workers', flags.workers, 1)
  const seed = wholeNumber('--seed', flags.seed, 0)
  const runs = await readRuns(runsPath)
  const labels = await readLabels(flags.labels)
  const inputs = {
    runsSha256: (await hashFile(runsPath)).sha256,
    labelsSha256: (await hashFile(flags.labels)).sha256,
  }
  const memory = planExtractorMemory(extractor)
  context.writeErr(`${memoryLine(memory, workers === 1 ? 'one process' : `each of ${workers} processes`)}\n`)
  const show = progressShower(context)
  let toldCheck = false
  try {
    const result = await extractDataset({
      runs,
      labels,
      inputs,
      representation: describeRepresentation(extractor),
      startExtractor: async () => {
        const started = await startProcessExtractor(extractor)
        if (!toldCheck && started.selfCheck !== undefined) context.writeErr(`${describeSelfCheck(started.selfCheck)}\n`)
        toldCheck = true
        return started
      },
      out: flags.out,
      maxCheckpointsPerRun,
      workers,
      seed,
      fresh: flags.fresh,
      signal: context.signal,
      onProgress: show.update,
    })
    show.done(result)
    const { manifest, ...outcome } = result
    return { data: { ...outcome, counts: manifest.counts }, text: describeResult(result) }
  } finally {
    show.stop()
  }
}

/** @param flags.model a directory */
function extractorOptions(flags: ExtractFlags): ExtractorOptions {
  const viewBudget = wholeNumber('--view-budget', flags.viewBudget, 1)
  return {
    directory: flags.model,
    layer: flags.layer === 'default' ? 'default' : wholeNumber('--layer', flags.layer, 0),
    recipe: createRecipe(flags.recipe, {
      view: viewBudget,
      ...(flags.recentWindow === undefined ? {} : { window: flags.recentWindow }),
    }),
    storageDtype: flags.storage,
    execution: executionOf(flags),
    prefixCacheBytes: prefixCacheBytes(wholeNumber('--prefix-cache-mb', flags.prefixCacheMb, 0)),
  }
}

interface ProgressShower {
  update(progress: ExtractProgress): void
  /** Must be called, also after a failure. */
  stop(): void
  done(result: ExtractResult): void
}

/** A long run reports when it is finished; until then the line is drawn again, so that a person sees it is alive. */
const HEARTBEAT_MS = 1000

/** A line for the vectors, one for the pairs; each begins with the first report of its stage. */
function progressShower(context: CommandContext): ProgressShower {
  let extracting: Progress | null = null
  let pairing: Progress | null = null
  let startMs = context.nowMs()
  let last: ExtractProgress | null = null
  const rate = (tokens: number): string =>
    `${formatCount(tokens / Math.max((context.nowMs() - startMs) / 1000, 1e-3))} tokens/s`
  const drawExtracting = (): void => {
    if (extracting === null || last === null) return
    const note = `${rate(last.computedTokens)}, run ${last.trajectoriesDone}/${last.trajectories}`
    extracting.update(last.viewsDone, note)
  }
  const heartbeat = setInterval(drawExtracting, HEARTBEAT_MS)
  const endExtracting = (): void => {
    if (extracting === null || last === null) return
    extracting.done(
      `${formatCount(last.viewsDone)} views of ${last.trajectories} runs, ` +
        `${formatCount(last.computedTokens)} tokens, ${rate(last.computedTokens)}`,
    )
    extracting = null
  }
  return {
    update(progress) {
      if (progress.stage === 'extract') {
        if (extracting === null) {
          startMs = context.nowMs()
          extracting = startProgress(context, { stage: 'extract', total: progress.views, unit: 'views' })
          if (progress.trajectoriesDone > 0)
            context.writeErr(
              `extract: ${progress.trajectoriesDone} of ${progress.trajectories} runs are there already and are reused\n`,
            )
        }
        last = progress
        drawExtracting()
        return
      }
      endExtracting()
      pairing ??= startProgress(context, { stage: 'pairs', total: progress.trajectories, unit: 'runs' })
      pairing.update(progress.trajectoriesDone)
    },
    stop: () => clearInterval(heartbeat),
    done(result) {
      endExtracting()
      const { pairs, ready } = result.manifest.counts
      pairing?.done(`${formatCount(pairs)} pairs, ${((100 * ready) / Math.max(pairs, 1)).toFixed(1)} % READY`)
    },
  }
}

function describeResult(result: ExtractResult): string {
  const { directory, manifest, dropped, reusedTrajectories, unchanged } = result
  const { trajectories, groups, pairs, vectors } = manifest.counts
  const lines = [
    `${unchanged ? 'reusing' : 'wrote'} ${directory}: ${formatCount(pairs)} pairs of ${trajectories} runs in ` +
      `${groups} groups, ${formatCount(vectors)} vectors of ${manifest.representation.model.name} ` +
      `layer ${manifest.representation.layer}, recipe ${manifest.recipe}`,
  ]
  const merges = manifest.groupMerges ?? []
  if (merges.length > 0)
    lines.push(
      `${merges.reduce((sum, merge) => sum + merge.members.length, 0)} groups are ${merges.length}, since their runs are ` +
        `near copies: keepready inspect ${directory}`,
    )
  if (unchanged) lines.push('nothing to do: it was made from these runs, labels and options')
  else if (reusedTrajectories > 0) lines.push(`reused the vectors of ${reusedTrajectories} of ${trajectories} runs`)
  if (result.savedTokens > 0)
    lines.push(
      `computed ${formatCount(result.computedTokens)} tokens; the prefix cache spared ${formatCount(result.savedTokens)} more`,
    )
  if (dropped.length > 0)
    lines.push(`left out ${dropped.length} runs of fewer than 3 interactions: they have no checkpoint`)
  lines.push(`next: keepready train ${directory} --out router/`)
  return lines.join('\n')
}

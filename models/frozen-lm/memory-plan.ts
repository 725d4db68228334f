/**
 * How much memory an extraction process takes at most, said before anything is loaded, and how many tokens a run may
 * compute so that it stays within a budget. memory-estimate.ts says what one run takes; an extraction also holds the
 * states it continues from, tokens, texts and caches. An upper bound: measured peaks lie between 40 and 100 % of it
 * (tests, docs/devices.md). The memory of another device is not counted, only the host's.
 */
import { AppError } from '../../src/errors.ts'
import { elementCount } from '../safetensors.ts'
import { boundedTokens, type ScoreBound, scoreBound } from './attention-scores.ts'
import type { Checkpoint } from './checkpoint.ts'
import { EMBEDDING } from './decoder.ts'
import type { Execution } from './execution.ts'
import { estimateMemory } from './memory-estimate.ts'
import { isHalfPrecision, resolveWeights } from './session-plan.ts'

export interface MemoryUse {
  readonly checkpoint: Checkpoint
  readonly layer: number
  readonly execution: Execution
  /** Tokens of the longest view. */
  readonly viewTokens: number
  /** Bytes that caches of vectors and states may fill. */
  readonly cacheBytes: number
}

export interface MemoryPlan {
  /** Node, native runtime, tokenizer and its caches. */
  readonly programBytes: number
  /** Weights in mapped files: one copy for all processes, and given back when others need the room. */
  readonly mappedBytes: number
  /** Weights that are the process's own: packed, widened or integer copies. */
  readonly copiedBytes: number
  /** Keys and values (or recurrent states) of the longest view: in the runtime, and twice on the heap. */
  readonly stateBytes: number
  /** What one run computes on the way, for `runTokens` tokens. */
  readonly activationBytes: number
  readonly cacheBytes: number
  readonly totalBytes: number
  /** Most tokens of one run; longer ones are cut, with the same bits. */
  readonly runTokens: number
}

/** Tokens that stay cached (extractor.ts: 50 MB), trajectories and vectors on the way to their file. */
const HEAP_BYTES = 80e6
/** Dead states wait for the collector, which V8 starts at this much. */
const GARBAGE_BYTES = 64e6
/** A cut run should still be a matrix product worth its name, and divide what attention works in. */
const RUN_STEP = 64
const F32_BYTES = 4

/** Scores that bound the runs; null where none are held, or a cut would change the vectors. */
export function cuttableScores({
  checkpoint,
  layer,
  execution,
}: Pick<MemoryUse, 'checkpoint' | 'layer' | 'execution'>): ScoreBound | null {
  if (execution.quantize !== 'none') return null
  return scoreBound(checkpoint.config, layer, execution.device === 'cpu' ? 'fused' : 'plain')
}

/** @param runTokens default: the whole view in one run, or as much of it as its scores allow */
export function boundMemory(use: MemoryUse, runTokens: number = longestRun(use)): MemoryPlan {
  const { viewTokens, cacheBytes } = use
  const run = runOf(use)
  const programBytes = run.baseBytes + run.tokenizerBytes + HEAP_BYTES
  const { mappedBytes, copiedBytes } = weightBytes(use)
  const view = run.stateBytes + viewTokens * run.keyValueBytesPerToken
  const stateBytes = 3 * view + Math.min(GARBAGE_BYTES, 3 * view)
  const activationBytes = Math.min(runTokens, viewTokens) * tokenBytes(use)
  const totalBytes = programBytes + mappedBytes + copiedBytes + stateBytes + activationBytes + cacheBytes
  return { programBytes, mappedBytes, copiedBytes, stateBytes, activationBytes, cacheBytes, totalBytes, runTokens }
}

/**
 * The estimate with the longest runs that `execution.memoryBytes` allows.
 * @throws memory-budget-too-small, naming what would do
 */
export function planMemory(use: MemoryUse): MemoryPlan {
  const { execution, viewTokens, checkpoint, layer } = use
  const whole = boundMemory(use)
  const budget = execution.memoryBytes
  if (budget === null || whole.totalBytes <= budget) return whole
  // Integer products scale activations by run: another cut would give other vectors.
  const cuttable = execution.quantize === 'none'
  const rest = budget - (whole.totalBytes - whole.activationBytes)
  const runTokens = Math.floor(rest / tokenBytes(use) / RUN_STEP) * RUN_STEP
  if (cuttable && runTokens >= RUN_STEP) return boundMemory(use, Math.min(runTokens, longestRun(use)))
  const least = cuttable ? boundMemory(use, Math.min(RUN_STEP, viewTokens)) : whole
  const ways = ['a lower --layer']
  if (resolvedWeights(use) === 'resident' && execution.device === 'cpu') ways.unshift('--weights mmap')
  if (use.cacheBytes > 0) ways.unshift('a smaller --prefix-cache-mb')
  throw new AppError(
    'memory-budget-too-small',
    `${checkpoint.directory}, layer ${layer}, views of ${viewTokens} tokens need ${megabytes(least.totalBytes)} MB (${describeMemory(least)}), --memory-mb allows ${megabytes(budget)}: allow that much, or choose ${ways.join(', ')} or shorter views (--view-budget)`,
    { details: { neededMb: megabytes(least.totalBytes), limitMb: megabytes(budget) } },
  )
}

/** `program 150, weights 170 mapped + 0 copied, states 95, one run 66` in MB. */
export function describeMemory(estimate: MemoryPlan): string {
  const { programBytes, mappedBytes, copiedBytes, stateBytes, activationBytes, cacheBytes, runTokens } = estimate
  const parts = [
    `program ${megabytes(programBytes)}`,
    `weights ${megabytes(mappedBytes)} mapped + ${megabytes(copiedBytes)} copied`,
    `states ${megabytes(stateBytes)}`,
    `runs of ${runTokens} tokens ${megabytes(activationBytes)}`,
  ]
  if (cacheBytes > 0) parts.push(`caches ${megabytes(cacheBytes)}`)
  return parts.join(', ')
}

/** What is printed before a model is loaded. @param where `one process`, `the process of the model` */
export function memoryLine(plan: MemoryPlan, where: string): string {
  return `memory: at most ${megabytes(plan.totalBytes)} MB in ${where} (${describeMemory(plan)})`
}

export function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6)
}

function longestRun(use: MemoryUse): number {
  const scores = cuttableScores(use)
  return scores === null ? use.viewTokens : Math.min(use.viewTokens, boundedTokens(scores, use.viewTokens))
}

/** What a run computes on the way for each of its tokens; on another device the scores are there. */
function tokenBytes(use: MemoryUse): number {
  const { checkpoint, layer, execution, viewTokens } = use
  const scores = execution.device === 'cpu' ? scoreBound(checkpoint.config, layer, 'fused') : null
  return runOf(use).activationBytesPerToken + (scores === null ? 0 : scores.pairBytes * viewTokens)
}

function resolvedWeights({ checkpoint, execution }: MemoryUse): 'mmap' | 'resident' {
  return execution.device === 'cpu' ? resolveWeights(execution.weights, isHalfPrecision(checkpoint)) : 'resident'
}

function runOf(use: MemoryUse): ReturnType<typeof estimateMemory> {
  const { checkpoint, layer, viewTokens, execution } = use
  const { precision } = execution
  return estimateMemory(checkpoint, { layer, tokens: viewTokens, weights: resolvedWeights(use), precision })
}

function weightBytes(use: MemoryUse): { readonly mappedBytes: number; readonly copiedBytes: number } {
  const { checkpoint, execution } = use
  const { weightBytes: layers } = runOf(use)
  const embedding = checkpoint.tensors.get(EMBEDDING)?.sizeBytes ?? 0
  const mapped = resolvedWeights(use) === 'mmap'
  const sizes = [...checkpoint.tensors].map(([name, { shape }]) => (name === EMBEDDING ? 0 : elementCount(shape)))
  const largest = sizes.reduce((a, b) => Math.max(a, b), 0)
  if (execution.quantize === 'int8') {
    // One byte a weight: the integers, their copies in the encoded graph and in the runtime, and the packed ones.
    const float32 = estimateMemory(checkpoint, { layer: use.layer, tokens: 1, weights: 'resident' }).weightBytes
    return { mappedBytes: embedding, copiedBytes: float32 + F32_BYTES * largest }
  }
  if (!mapped) return { mappedBytes: embedding, copiedBytes: layers }
  // A layer's matrices are widened one after the other and dropped again.
  return { mappedBytes: layers + embedding, copiedBytes: isHalfPrecision(checkpoint) ? 3 * F32_BYTES * largest : 0 }
}

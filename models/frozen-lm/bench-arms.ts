/**
 * What the arms of the extraction benchmark do in one run, through the same executor and session as extraction:
 *   naive         some bounded views [shared part][target], each from position 0
 *   shared-first  the shared part once, then each target behind its state
 *   once          the state and the newest interaction behind the task head; older vectors are known (vector cache)
 *   full-context  one pass over a history, as long as it is
 *   prefill       2048^3 MatMul and prefills of several lengths, for their rates
 * One process holds one arm (bench-arm-process.ts).
 */
import { AppError } from '../../src/errors.ts'
import type { ViewNode } from '../../src/view/build-view-tree.ts'
import { DEFAULT_BUDGETS } from '../../src/view/recipe.ts'
import { concatTokens } from '../../src/view/section.ts'
import type { ArmPart, ArmTask, OwnArmSpec } from './bench-protocol.ts'
import { createMatMulProbe } from './bench-rates.ts'
import { createSchedule, readClock, type Schedule, type ScheduleOptions, since, tokenSource } from './bench-schedule.ts'
import { type Checkpoint, openCheckpoint } from './checkpoint.ts'
import { decoderStates } from './decoder-graph.ts'
import { openOnDevice } from './devices/open-on-device.ts'
import { completeExecution } from './execution.ts'
import { resolveLayer } from './load-frozen-lm.ts'
import type { FrozenLm } from './port.ts'
import { runViewTree } from './run-view-tree.ts'
import { createVectorCache, viewKey } from './vector-cache.ts'

export interface ArmRun {
  /** Computed in this run. */
  readonly tokens: number
  /** Of the views the arm was told to show, in order. */
  readonly hidden: readonly Float32Array[]
  readonly parts: readonly ArmPart[]
}

export interface Arm {
  /** Keys and values, or recurrent states, of its longest sequence. */
  readonly stateBytes: number
  /** Before the first measured run: what later runs do not pay for. */
  warmUp(): Promise<void>
  run(): Promise<ArmRun>
  close(): Promise<void>
}

/** Enough to touch every weight, too few to need memory of their own. */
const TOUCH_TOKENS = 32
/** A warm-up longer than this would only cost. */
const MAX_WARM_UP_TOKENS = 2048
const UNTIMED = { hidden: [], parts: [] } as const

/**
 * @returns the arm with its model loaded and its weights touched
 * @throws what openCheckpoint, resolveLayer and openOnDevice throw
 */
export async function openArm(spec: OwnArmSpec): Promise<Arm> {
  const { directory, task, contextLength } = spec
  const opened = openCheckpoint(directory)
  const config = { ...opened.config, contextLength: contextLength ?? opened.config.contextLength }
  const checkpoint: Checkpoint = { ...opened, config }
  const layer = resolveLayer({ directory, wanted: spec.layer, layerCount: config.layerCount })
  const execution = completeExecution({ device: spec.device ?? 'cpu', weights: spec.weights ?? 'auto' })
  const lm = await openOnDevice({ checkpoint, layer, execution })
  const vocabulary = config.vocabularySize
  await lm.prefill(tokenSource(0, vocabulary)(TOUCH_TOKENS), { past: null, rows: 'last', keepState: false })
  const runner = await createRunner(lm, task)
  const stateBytes = decoderStates(config, layer).reduce((sum, { shape }) => {
    const sizes = shape.map((size) => (size === 'P' ? longestSequence(task) : size))
    return sum + sizes.reduce((product, size) => product * size, 4)
  }, 0)
  return {
    stateBytes,
    async warmUp() {
      const tokens = Math.min(MAX_WARM_UP_TOKENS, longestSequence(task))
      if (task.kind !== 'load')
        await lm.prefill(tokenSource(1, vocabulary)(tokens), { past: null, rows: 'last', keepState: false })
    },
    run: runner.run,
    async close() {
      await runner.close?.()
      await lm.close()
    },
  }
}

interface Runner {
  readonly run: () => Promise<ArmRun>
  readonly close?: () => Promise<void>
}

async function createRunner(lm: FrozenLm, task: ArmTask): Promise<Runner> {
  switch (task.kind) {
    case 'naive':
      return { run: naiveRunner(lm, createSchedule(task.schedule, lm.info.vocabularySize), task.views) }
    case 'shared-first':
      return { run: sharedFirstRunner(lm, createSchedule(task.schedule, lm.info.vocabularySize), task.views) }
    case 'once':
      return { run: onceRunner(lm, task.schedule) }
    case 'full-context':
      return { run: fullContextRunner(lm, task) }
    case 'prefill':
      return prefillRunner(lm, task)
    case 'load':
      return { run: async () => ({ tokens: 0, ...UNTIMED }) }
    default:
      return task satisfies never
  }
}

function naiveRunner(lm: FrozenLm, schedule: Schedule, views: readonly number[]): Runner['run'] {
  const trees = views.map((index) => {
    const tokens = concatTokens([schedule.shared, schedule.targets[index] ?? new Int32Array(0)])
    return leaf(tokens, { role: 'h', interaction: index, checkpoint: 0 })
  })
  return async () => {
    let tokens = 0
    const hidden: Float32Array[] = []
    for (const tree of trees) {
      const { vectors, computedTokens } = await runViewTree(lm, tree)
      tokens += computedTokens
      hidden.push(...vectors.map((vector) => vector.hidden))
    }
    return { tokens, hidden, parts: [] }
  }
}

function sharedFirstRunner(lm: FrozenLm, schedule: Schedule, views: readonly number[]): Runner['run'] {
  const tree: ViewNode = {
    ...leaf(schedule.shared, { role: 'q', interaction: null, checkpoint: 0 }),
    children: schedule.targets.map((target, interaction) => leaf(target, { role: 'h', interaction, checkpoint: 0 })),
  }
  return async () => {
    const { vectors, computedTokens } = await runViewTree(lm, tree)
    const byTarget = new Map(vectors.map((vector) => [vector.emit.interaction, vector.hidden]))
    return { tokens: computedTokens, hidden: views.flatMap((index) => byTarget.get(index) ?? []), parts: [] }
  }
}

/**
 * The shared part stands for head, recent and state sections by their budgets. Every run has a state and a newest
 * interaction of its own, as every checkpoint does; vectors of the targets before it lie in the vector cache, where a
 * session would have left them (their values do not matter, so they are not computed).
 */
function onceRunner(lm: FrozenLm, options: ScheduleOptions): Runner['run'] {
  const { shared, targets } = createSchedule(options, lm.info.vocabularySize)
  const { head: headBudget, recent, state } = DEFAULT_BUDGETS
  const headTokens = Math.max(1, Math.round((shared.length * headBudget) / (headBudget + recent + state)))
  const head = shared.slice(0, headTokens)
  const known = targets.slice(0, -1)
  const cache = createVectorCache(targets.length * (4 * lm.info.hiddenSize + 400) * 4)
  const draw = tokenSource(options.seed + 1, lm.info.vocabularySize)
  const headKey = viewKey('', head)
  for (const target of known) cache.set(viewKey(headKey, target), new Float32Array(lm.info.hiddenSize))
  return async () => {
    const newest = draw(options.targetTokens)
    const state = draw(Math.max(1, shared.length - headTokens))
    const tree: ViewNode = {
      ...leaf(head, null),
      children: [
        ...[...known, newest].map((target, interaction) => leaf(target, { role: 'h', interaction, checkpoint: null })),
        leaf(state, { role: 'q', interaction: null, checkpoint: 0 }),
      ],
    }
    const { computedTokens } = await runViewTree(lm, tree, { cache })
    return { tokens: computedTokens, hidden: [], parts: [] }
  }
}

function leaf(tokens: Int32Array, emit: ViewNode['emit']): ViewNode {
  return { tokens, truncatedTokens: 0, emit, children: [] }
}

function fullContextRunner(lm: FrozenLm, task: Extract<ArmTask, { kind: 'full-context' }>): Runner['run'] {
  const text = tokenSource(task.seed, lm.info.vocabularySize)(task.historyTokens)
  const rows = [...text.keys()].filter(
    (position) => (position + 1) % task.rowEvery === 0 || position + 1 === text.length,
  )
  return async () => {
    await lm.prefill(text, { past: null, rows, keepState: false })
    return { tokens: text.length, ...UNTIMED }
  }
}

async function prefillRunner(lm: FrozenLm, task: Extract<ArmTask, { kind: 'prefill' }>): Promise<Runner> {
  const probe = await createMatMulProbe()
  const draw = tokenSource(task.seed, lm.info.vocabularySize)
  const texts = task.lengths.map(draw)
  return {
    async run() {
      // One product before and one after: a clock that drifts within the run shows in neither ratio alone.
      const parts: ArmPart[] = [{ name: MATMUL_PART, cost: await probe.run() }]
      for (const text of texts) {
        const start = readClock()
        await lm.prefill(text, { past: null, rows: 'last', keepState: false })
        parts.push({ name: String(text.length), cost: since(start) })
      }
      parts.push({ name: MATMUL_PART, cost: await probe.run() })
      return { tokens: texts.reduce((sum, text) => sum + text.length, 0), hidden: [], parts }
    },
    close: () => probe.close(),
  }
}

/** Name of the part that is the runtime's own matrix product. */
export const MATMUL_PART = 'matmul'

function longestSequence(task: ArmTask): number {
  switch (task.kind) {
    case 'naive':
    case 'shared-first':
    case 'once': {
      const { sharedTokens, targetTokens, targetCount } = task.schedule
      return sharedTokens + Math.round(targetTokens * (targetCount === 1 ? 1 : 1.25))
    }
    case 'full-context':
      return task.historyTokens
    case 'prefill':
      return Math.max(...task.lengths)
    case 'load':
      return TOUCH_TOKENS
    default:
      throw new AppError('invariant', `no such task: ${JSON.stringify(task satisfies never)}`)
  }
}

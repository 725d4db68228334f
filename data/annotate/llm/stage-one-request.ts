/**
 * Stage 1: the calls of one run, one per checkpoint (several where the targets do not fit into one answer or one prompt),
 * and the request of each. The future stands in a section of its own. Pure.
 */
import type { ChatRequest } from '../../../models/chat/port.ts'
import { type Trajectory, targetsAt } from '../../../src/trajectory/trajectory.ts'
import { type Block, joinBlocks } from './blocks.ts'
import type { RunLayout, RunPart } from './lay-out-run.ts'
import { type CallLimits, recordsPerCall } from './limits.ts'
import { PROMPTS } from './prompts/prompts.ts'
import { STAGE_ONE_ANSWER } from './stage-one.schema.ts'

export interface StageOneCall {
  readonly checkpoint: number
  /** Canonical indices, ascending. */
  readonly targets: readonly number[]
}

export interface BuiltRequest {
  readonly request: ChatRequest
  /** Exact by the counting tokenizer, without the server's chat template. */
  readonly promptTokens: number
}

/** @param checkpoints ascending, each at least 2 */
export function planStageOne(
  trajectory: Trajectory,
  layout: RunLayout,
  options: { readonly checkpoints: readonly number[]; readonly limits: CallLimits },
): readonly StageOneCall[] {
  const most = recordsPerCall(options.limits)
  const details = detailsOf(layout)
  return options.checkpoints.flatMap((checkpoint) => {
    const targets = targetsAt(trajectory, checkpoint).map((interaction) => interaction.index)
    const groups = Math.ceil(targets.length / most)
    const size = Math.ceil(targets.length / Math.max(groups, 1))
    const plan = { targets, size, room: layout.detailTokens }
    return splitByDetail(details, plan).map((chunk) => ({ checkpoint, targets: chunk }))
  })
}

/** Groups of at most `size` targets whose details fit together. */
function splitByDetail(
  details: ReadonlyMap<number, Block>,
  plan: { readonly targets: readonly number[]; readonly size: number; readonly room: number },
): readonly (readonly number[])[] {
  const chunks: number[][] = []
  let tokens = 0
  for (const target of plan.targets) {
    const detail = details.get(target)?.tokens ?? 0
    const last = chunks.at(-1)
    if (last === undefined || last.length >= plan.size || tokens + detail > plan.room) {
      chunks.push([target])
      tokens = detail
    } else {
      last.push(target)
      tokens += detail
    }
  }
  return chunks
}

/** By canonical index: interactions that the history shows clipped. */
function detailsOf(layout: RunLayout): ReadonlyMap<number, Block> {
  return new Map(
    layout.parts.flatMap(({ kind, at, detail }) => (kind === 'interaction' && detail !== null ? [[at, detail]] : [])),
  )
}

export function buildStageOne(layout: RunLayout, call: StageOneCall & { readonly limits: CallLimits }): BuiltRequest {
  const { checkpoint, targets } = call
  const { writer } = layout
  const past = (part: RunPart): boolean => (part.kind === 'turn' ? part.at <= checkpoint : part.at < checkpoint)
  const history = writer.borders('history')
  const future = writer.borders('future')
  const later = layout.parts.filter((part) => !past(part)).map((part) => part.block)
  const wanted = new Set(targets)
  const details = layout.parts.flatMap(({ kind, at, detail }) =>
    kind === 'interaction' && detail !== null && wanted.has(at) ? [detail] : [],
  )
  const inDetail = writer.borders('targets in more detail')
  const user = joinBlocks([
    layout.head,
    history.open,
    ...layout.parts.filter(past).map((part) => part.block),
    history.close,
    ...(details.length === 0 ? [] : [inDetail.open, ...details, inDetail.close]),
    ...(later.length === 0 ? [] : [future.open, ...later, future.close]),
    writer.section(
      'request',
      `This is checkpoint ${checkpoint}: the agent is about to make interaction ${checkpoint}; ` +
        `the newest is ${checkpoint - 1}. Interactions from ${checkpoint} on are the future: they can only veto.\n` +
        `Judge these targets, one record each, in this order: ${targets.join(', ')}`,
    ),
  ])
  return {
    request: {
      messages: [
        { role: 'system', content: PROMPTS.stageOne },
        { role: 'user', content: user.text },
      ],
      maxOutputTokens: call.limits.maxOutputTokens,
      temperature: 0,
      answer: STAGE_ONE_ANSWER,
    },
    promptTokens: writer.count(PROMPTS.stageOne) + user.tokens,
  }
}

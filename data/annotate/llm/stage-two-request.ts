/**
 * Stage 2: the request for one interaction: itself in full, what stage 1 cited, an outline of the rest, all its records.
 * Pure.
 */
import type { Trajectory } from '../../../src/trajectory/trajectory.ts'
import { takeStart } from '../../../src/view/cut-text.ts'
import { shareBudget } from '../../../src/view/share-budget.ts'
import { type Block, joinBlocks } from './blocks.ts'
import type { StageTwoQuestion, TargetRecords } from './check-stage-two.ts'
import { clipText } from './clip-text.ts'
import { FRAME_TOKENS, type RunLayout } from './lay-out-run.ts'
import { type CallLimits, promptBudget, stageTwoOutputTokens } from './limits.ts'
import { outlineLines } from './outline.ts'
import { PROMPTS } from './prompts/prompts.ts'
import type { Quote, StageOneRecord } from './stage-one.schema.ts'
import type { BuiltRequest } from './stage-one-request.ts'
import { STAGE_TWO_ANSWER } from './stage-two.schema.ts'

/** Of the prompt at most; the rest is the target and what was cited. Assumptions. */
const RECORDS_SHARE = 0.35
const OUTLINE_SHARE = 0.15
/** Fields of a record are one line each of at most this many characters. */
const FIELD_CHARS = 240

/** @param trajectory as it may be sent */
export function buildStageTwo(
  trajectory: Trajectory,
  layout: RunLayout,
  question: StageTwoQuestion & { readonly limits: CallLimits },
): BuiltRequest {
  const { target, records, limits } = question
  const { writer } = layout
  const budget = promptBudget(limits) - writer.count(PROMPTS.stageTwo) - layout.head.tokens - FRAME_TOKENS
  const recordBlock = writer.section('records', clipText(recordLines(records), budget * RECORDS_SHARE, writer.count))
  const cited = citedInteractions(records)
  const outline = outlineLines(trajectory, (index) => index === target || cited.has(index)).join('\n')
  const outlineBlock = writer.section('outline', clipText(outline, budget * OUTLINE_SHARE, writer.count))
  const shown = trajectory.interactions.filter(({ index }) => index === target || cited.has(index))
  const room = Math.max(0, budget - recordBlock.tokens - outlineBlock.tokens)
  const wanted = shown.map((interaction) => writer.interaction(interaction, Number.POSITIVE_INFINITY))
  const shares = shareBudget(
    wanted.map((block) => block.tokens),
    room,
  )
  const blocks = shown.map((interaction, k): Block => {
    const whole = wanted[k]
    return whole !== undefined && whole.tokens <= (shares[k] ?? 0)
      ? whole
      : writer.interaction(interaction, shares[k] ?? 0)
  })
  const of = (want: boolean): readonly Block[] => blocks.filter((_, k) => (shown[k]?.index === target) === want)
  const targetBorders = writer.borders('target')
  const citedBorders = writer.borders('cited')
  const user = joinBlocks([
    layout.head,
    targetBorders.open,
    ...of(true),
    targetBorders.close,
    citedBorders.open,
    ...of(false),
    citedBorders.close,
    outlineBlock,
    recordBlock,
    writer.section('request', `The target is interaction ${target}. From which checkpoint on is it READY for good?`),
  ])
  return {
    request: {
      messages: [
        { role: 'system', content: PROMPTS.stageTwo },
        { role: 'user', content: user.text },
      ],
      maxOutputTokens: stageTwoOutputTokens(limits),
      temperature: 0,
      answer: STAGE_TWO_ANSWER,
    },
    promptTokens: writer.count(PROMPTS.stageTwo) + user.tokens,
  }
}

function citedInteractions(records: TargetRecords): ReadonlySet<number> {
  return new Set(
    records.flatMap(({ record }) =>
      record === null ? [] : [...record.evidence, ...vetoOf(record)].map((quote) => quote.interaction),
    ),
  )
}

function vetoOf(record: StageOneRecord): readonly Quote[] {
  return record.futureDependency === null ? [] : [record.futureDependency]
}

function recordLines(records: TargetRecords): string {
  return records
    .map(({ checkpoint, record }) =>
      record === null ? `checkpoint ${checkpoint}: no valid record` : recordLine(checkpoint, record),
    )
    .join('\n')
}

function recordLine(checkpoint: number, record: StageOneRecord): string {
  const quotes = (list: readonly Quote[]): string =>
    list
      .map(
        ({ interaction, quote }) =>
          `interaction ${interaction} ${JSON.stringify(takeStart(blanksAsOne(quote), FIELD_CHARS))}`,
      )
      .join(', ')
  const fields = [
    record.taskProgress === '' ? '' : `progress: ${oneLine(record.taskProgress)}`,
    record.observationComplexity === '' ? '' : `complexity: ${oneLine(record.observationComplexity)}`,
    record.nextNeeds === '' ? '' : `needs: ${oneLine(record.nextNeeds)}`,
    record.remainingUtility === null ? '' : `remaining utility: ${record.remainingUtility}`,
    record.evidence.length === 0 ? '' : `evidence: ${quotes(record.evidence)}`,
    record.futureDependency === null ? '' : `veto: ${quotes([record.futureDependency])}`,
    record.reason === '' ? '' : `reason: ${oneLine(record.reason)}`,
  ]
  return [`checkpoint ${checkpoint}: ${record.judgement}`, ...fields.filter((field) => field !== '')].join(' | ')
}

function oneLine(text: string): string {
  const line = blanksAsOne(text)
  return line.length > FIELD_CHARS ? `${takeStart(line, FIELD_CHARS)}...` : line
}

function blanksAsOne(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/**
 * A provider's message list from a log -> Trajectory, through the parser and the splitter that the server uses: a row for
 * training holds what serving the same bytes would see.
 */
import { AppError } from '../../src/errors.ts'
import { FORMATS } from '../../src/protocol/formats.ts'
import type { History, HistoryFormat, HistoryMessage, JsonValue, Violation } from '../../src/protocol/history.ts'
import { parseHistory, parseOneMessage } from '../../src/protocol/parse-history.ts'
import { readSegments } from '../../src/protocol/read-segments.ts'
import { scanJson } from '../../src/protocol/scan-json.ts'
import { splitHistory } from '../../src/protocol/split-history.ts'
import { validateHistory } from '../../src/protocol/validate-history.ts'
import type { SourceRef, Trajectory } from '../../src/trajectory/trajectory.ts'
import type { FormatName } from './importer.ts'
import { type JudgeMessage, setAside, withAside } from './set-aside.ts'

export interface HistoryRun {
  /** JSON text of the list or of the request body. */
  readonly text: string
  /** JSON.parse of the text, where it is at hand: a large log is not parsed twice. */
  readonly value?: unknown
  readonly format: HistoryFormat
  readonly id: string
  readonly domain: FormatName
  /** The group, from the task header. */
  readonly groupOf: (task: string) => string
  /** Where the run stands in its file. */
  readonly source: SourceRef
  /** Where message `index` stands; default: its index in the list. */
  readonly sourceOf?: (index: number) => SourceRef
  readonly truncated?: boolean
  /** What stands in the list and is no part of the conversation. Default: nothing. */
  readonly judge?: JudgeMessage | undefined
}

/** A message that was left out, or a result that answers nothing. `index`: position in the list. */
export interface MessageDamage {
  readonly index: number
  readonly reason: string
}

export interface HistoryImport {
  readonly trajectory: Trajectory
  readonly damage: readonly MessageDamage[]
  /** Messages that a client wrote in the model's name: left out. */
  readonly dropped: number
}

/** Throws history-malformed when the text holds no message list; single bad messages are left out and reported. */
export function historyTrajectory(run: HistoryRun): HistoryImport {
  const { history, kept, damage } = parseLeniently(run)
  const indexOf = (position: number): number => kept?.[position] ?? position
  const { live, positions, aside, dropped } = setAside(history, run.judge)
  const positionOf = ({ index = 0 }: SourceRef): number => positions[index] ?? index
  const sourceAt = (position: number): SourceRef => {
    const index = indexOf(position)
    return run.sourceOf?.(index) ?? { file: run.source.file, index }
  }
  const { trajectory } = splitHistory(live, { id: run.id, file: run.source.file })
  const doubtful = (isFullyPaired(history, trajectory) ? [] : validateHistory(history, RESULT_RULES))
    .filter((violation) => concernsResult(history, violation))
    .map((violation) => ({ index: indexOf(messageOf(violation)), reason: `${violation.rule}: ${violation.message}` }))
  return {
    trajectory: {
      ...trajectory,
      group: run.groupOf(trajectory.task),
      domain: run.domain,
      format: run.domain,
      truncated: run.truncated ?? false,
      interactions: trajectory.interactions.map((entry) => ({ ...entry, source: sourceAt(positionOf(entry.source)) })),
      turns: withAside(
        {
          turns: trajectory.turns.map((turn) => {
            const position = positionOf(turn.source)
            return { turn: { ...turn, source: sourceAt(position) }, position }
          }),
          interactions: trajectory.interactions.map((entry) => positionOf(entry.source)),
        },
        aside.map(({ position, kind, text }) => ({ turn: { kind, text, source: sourceAt(position) }, position })),
      ),
      source: run.source,
    },
    damage: [...damage, ...doubtful],
    dropped,
  }
}

interface LenientHistory {
  readonly history: History
  /** Positions of the kept messages in the original list; null when all are kept. */
  readonly kept: readonly number[] | null
  readonly damage: readonly MessageDamage[]
}

function parseLeniently({ text, format, value }: HistoryRun): LenientHistory {
  try {
    return { history: parseHistory(text, format, value as JsonValue | undefined), kept: null, damage: [] }
  } catch (thrown) {
    const { listFields } = FORMATS[format]
    const elements = messageTexts(text, listFields)
    if (elements === null || !(thrown instanceof AppError)) throw thrown
    const messages: HistoryMessage[] = []
    const kept: number[] = []
    const damage: MessageDamage[] = []
    elements.forEach((raw, index) => {
      try {
        messages.push(parseOneMessage(raw, { format, listField: listFields[0] }, index))
        kept.push(index)
      } catch (cause) {
        if (!(cause instanceof AppError)) throw cause
        damage.push({ index, reason: cause.message })
      }
    })
    if (messages.length === 0) throw thrown
    const fields = fieldTexts(text, listFields)
    const list = `[${messages.map((message) => message.raw).join(',')}]`
    return { history: parseHistory(`{${[...fields, `"${listFields[0]}":${list}`].join(',')}}`, format), kept, damage }
  }
}

/** Raw texts of the messages, or null when there is no list of them. */
function messageTexts(text: string, listFields: readonly string[]): readonly string[] | null {
  const root = scanJson(text, { keepDepth: 2 })
  const list = root.kind === 'array' ? root : listFields.map((field) => root.members.get(field)).find(Boolean)
  return list?.kind === 'array' ? list.elements.map((node) => text.slice(node.start, node.end)) : null
}

/** Every other field of the body. */
function fieldTexts(text: string, listFields: readonly string[]): readonly string[] {
  const root = scanJson(text, { keepDepth: 1 })
  return [...root.members].flatMap(([key, node]) =>
    listFields.includes(key) ? [] : [`${JSON.stringify(key)}:${text.slice(node.start, node.end)}`],
  )
}

/** Rules that point at a result without a call, or at the second one of a call; some of them at calls as well. */
const RESULT_RULES: readonly string[] = ['C2', 'R2', 'A2', 'A3', 'G2', 'V2', 'V3']

/** Every result is the observation of a call: no rule about results is broken, and nothing needs to be searched for. */
function isFullyPaired(history: History, trajectory: Trajectory): boolean {
  let results = 0
  history.messages.forEach((message, number) => {
    for (const segment of readSegments(history, message, number)) if (segment.kind === 'result') results += 1
  })
  return results === trajectory.interactions.reduce((sum, { observations }) => sum + observations.length, 0)
}

function concernsResult(history: History, violation: Violation): boolean {
  const number = messageOf(violation)
  const message = history.messages[number]
  const segments = message === undefined ? [] : readSegments(history, message, number)
  return segments.some(({ kind, pointer }) => kind === 'result' && pointer === violation.pointer)
}

/** i of /messages/i/... */
function messageOf(violation: Violation): number {
  return Number(violation.pointer.split('/')[2] ?? 0)
}

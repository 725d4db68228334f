/**
 * Operations on one history: parse, render, count, estimate, summarise, compact. Each runs the public functions and writes
 * down the whole of what they gave.
 */
import { actingTokenizer } from '../../../models/tokenizer/acting-tokens.ts'
import { buildTokenTable } from '../../compaction/count-history.ts'
import { estimateContext } from '../../compaction/estimate-context.ts'
import { countMedia } from '../../compaction/media-tokens.ts'
import { buildSummaryRequest } from '../../compaction/summary-request.ts'
import { AppError } from '../../errors.ts'
import type { History, HistoryFormat, SplitHistory } from '../../protocol/history.ts'
import { parseHistory } from '../../protocol/parse-history.ts'
import { readSegments } from '../../protocol/read-segments.ts'
import { renderMessages } from '../../protocol/render-messages.ts'
import { repairHistory } from '../../protocol/repair/repair-history.ts'
import { isObject, type JsonObject } from '../../protocol/segment.ts'
import { splitHistory } from '../../protocol/split-history.ts'
import { validateHistory } from '../../protocol/validate-history.ts'
import type { CaseFile } from './case-file.schema.ts'
import type { CaseResult } from './case-result.ts'
import { compactCase } from './compact-case.ts'
import { type Performed, renderFor, toJson } from './render-for.ts'

/** @throws history-malformed */
export function runHistoryCase(given: CaseFile, format: HistoryFormat): CaseResult {
  const input = splitHistory(parseHistory(given.inputText ?? '', format))
  const result = performOn(given, input)
  return {
    given,
    input,
    trajectory: input.trajectory,
    thrown: null,
    rendered: result.rendered,
    output: { ...describeInput(input), ...result.output },
  }
}

/** The operation on a history, with what was rendered in its output. */
export function performOn(given: CaseFile, input: SplitHistory): Performed {
  const { output, rendered } = perform(given, input)
  return { rendered, output: { ...output, ...(rendered === null ? {} : describeRendered(rendered)) } }
}

function perform(given: CaseFile, input: SplitHistory): Performed {
  switch (given.operation) {
    case 'parse':
      return { output: {}, rendered: null }
    case 'render':
    case 'parse+render':
    case 'render-twice':
      return renderCase(given, input.history)
    case 'count':
      return { output: countCase(input.history), rendered: null }
    case 'estimate-context':
      return { output: estimateCase(given, input.history), rendered: null }
    case 'build-summary-request':
      return summaryRequestCase(input)
    case 'compact':
      return compactCase(given, input.history)
    case 'compact+count': {
      const done = compactCase(given, input.history)
      return { ...done, output: { ...done.output, ...countCase(done.rendered ?? input.history) } }
    }
    case 'trigger':
      throw new AppError('invariant', 'a usage series is no history')
    default:
      return given.operation satisfies never
  }
}

function renderCase(given: CaseFile, history: History): Performed {
  const once = (): { readonly output: JsonObject; readonly rendered: History } => {
    const repaired = repairHistory(history)
    const { rendered, losses } = renderFor(given, repaired.history)
    return { output: { changes: toJson(repaired.changes), losses: [...losses] }, rendered }
  }
  const first = once()
  const text = renderMessages(first.rendered.messages)
  const again = renderMessages(repairHistory(first.rendered).history.messages)
  return {
    rendered: first.rendered,
    output: {
      ...first.output,
      deterministic: text === renderMessages(once().rendered.messages),
      idempotent: text === again,
    },
  }
}

function countCase(history: History): JsonObject {
  const tokenizer = actingTokenizer(typeof history.request.model === 'string' ? history.request.model : null)
  const segments = history.messages.flatMap((message, number) => readSegments(history, message, number))
  const media = segments.flatMap((segment) =>
    segment.kind === 'result'
      ? segment.media
      : segment.kind === 'opaque' && segment.media !== null
        ? [segment.media]
        : [],
  )
  const texts = segments.map((segment) =>
    segment.kind === 'result' ? segment.content : 'text' in segment ? segment.text : '',
  )
  return {
    tokens: buildTokenTable(history, tokenizer.countTokens).total,
    tokenizer: { ...tokenizer.encoding },
    media: media.map((medium) => ({ kind: medium.kind, tokens: countMedia(medium, history.format) })),
    largest_text_tokens: Math.max(0, ...texts.map((text) => tokenizer.countTokens(text))),
  }
}

function estimateCase(given: CaseFile, history: History): JsonObject {
  const body = isObject(given.input) ? given.input : {}
  const usage = [body.usage, given.params.usage].find((value) => isObject(value))
  const { countTokens } = actingTokenizer(null)
  const estimate = estimateContext({ history, usage: isObject(usage) ? usage : null, countTokens })
  return { context_tokens: estimate.tokens, basis: estimate.basis, ignored: estimate.ignored }
}

/** The whole history as the source; the rendered request holds text alone. */
function summaryRequestCase(input: SplitHistory): Performed {
  const { system, user } = buildSummaryRequest({
    split: input,
    start: 0,
    end: (input.trajectory.interactions.at(-1)?.index ?? -1) + 1,
    maxTokens: 400,
  })
  const request = { system, messages: [{ role: 'user', content: [{ type: 'text', text: user }] }] }
  return { output: {}, rendered: parseHistory(JSON.stringify(request), 'anthropic-messages') }
}

function describeInput(split: SplitHistory): JsonObject {
  const results = split.history.messages.flatMap((message, number) =>
    readSegments(split.history, message, number).filter((segment) => segment.kind === 'result'),
  ).length
  const observed = split.trajectory.interactions.reduce((sum, entry) => sum + entry.observations.length, 0)
  const violations = validateHistory(split.history)
  return {
    interactions: split.trajectory.interactions.map((entry, number) => ({
      index: entry.index,
      state: split.interactions[number]?.state ?? 'answered',
      text: entry.text,
      tool_calls: entry.toolCalls.map((call) => ({ ...call })),
      observations: entry.observations.map((answer) => ({ ...answer })),
    })),
    turns: split.trajectory.turns.map((turn) => ({ before: turn.before, kind: turn.kind, text: turn.text })),
    /** Results that no interaction took as its observation: second ones, and those of no call. */
    duplicate_results: results - observed - orphans(split),
    input_violations: toJson(violations),
  }
}

/** Results that answer nothing are pinned items of their own. */
function orphans(split: SplitHistory): number {
  return split.items
    .flatMap((item) => (item.kind === 'pinned' && item.reason === 'opaque' ? item.parts : []))
    .flatMap((part) => {
      const message = split.history.messages[part.message]
      return message === undefined ? [] : readSegments(split.history, message, part.message)
    })
    .filter((segment) => segment.kind === 'result').length
}

function describeRendered(history: History): JsonObject {
  return {
    format: history.format,
    system: history.system?.value ?? null,
    [history.listField]: history.messages.map((message) => message.value),
    request: history.request,
    violations: toJson(validateHistory(history)),
  }
}

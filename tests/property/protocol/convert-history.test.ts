import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { convertHistory } from '../../../src/protocol/convert/convert-history.ts'
import { HISTORY_FORMATS, type History } from '../../../src/protocol/history.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { readSegments } from '../../../src/protocol/read-segments.ts'
import { renderMessages } from '../../../src/protocol/render-messages.ts'
import { repairHistory } from '../../../src/protocol/repair/repair-history.ts'
import { splitHistory } from '../../../src/protocol/split-history.ts'
import { blockingViolations, pairingOf, validateHistory } from '../../../src/protocol/validate-history.ts'
import { damagedHistory } from './damaged-history.ts'

const RUNS = { numRuns: 150 }
const target = fc.constantFrom(...HISTORY_FORMATS)

const spoken = (history: History, role: 'user' | 'system'): readonly string[] =>
  history.messages.flatMap((message, number) =>
    message.role === role
      ? readSegments(history, message, number).flatMap((segment) =>
          segment.kind === 'text' && segment.text.trim() !== '' ? [segment.text] : [],
        )
      : [],
  )

/** A bracketed kind stands for media, and each format has its own word for it. */
const withoutMedia = (text: string): string => text.replace(/\[[a-z -]*(?:image|file)[a-z -]*\]/g, '').trim()

/** Calls and results of the whole run, and its texts, told in the same words for every format. */
function factsOf(history: History): unknown {
  const { interactions } = splitHistory(history).trajectory
  const parsed = (text: string): unknown => {
    try {
      const value: unknown = JSON.parse(text === '' ? '{}' : text)
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { input: text }
    } catch {
      return { input: text }
    }
  }
  return {
    calls: interactions.flatMap(({ toolCalls }) => toolCalls.map((call) => [call.name, parsed(call.arguments)])),
    // Some formats want the order of the calls, others take any.
    results: interactions.flatMap(({ observations }) =>
      observations.map(({ content }) => withoutMedia(content)).sort(),
    ),
    text: interactions
      .map(({ text }) => withoutMedia(text))
      .join(' ')
      .replace(/\s+/g, ' ')
      .trim(),
  }
}

function sourceOf(given: { readonly text: string; readonly format: History['format'] }): History | null {
  const source = repairHistory(parseHistory(given.text, given.format), { danglingCalls: 'close' }).history
  return spoken(source, 'user').length > 0 ? source : null
}

describe('a conversion of any damaged history', () => {
  test.prop([damagedHistory, target], RUNS)('breaks no rule of the target', (given, format) => {
    if (sourceOf(given) === null || format === given.format) return
    const { history } = convertHistory(parseHistory(given.text, given.format), format)
    expect(history.format).toBe(format)
    expect(blockingViolations(validateHistory(history))).toEqual([])
  })

  test.prop([damagedHistory, target], RUNS)('keeps the words of the user verbatim and in order', (given, format) => {
    const source = sourceOf(given)
    if (source === null) return
    const { history } = convertHistory(source, format)
    // Gemini contents know no system role: later system texts stand among the user's.
    const system =
      format === 'gemini-contents' && source.format !== format ? new Set(spoken(source, 'system')) : new Set()
    expect(spoken(history, 'user').filter((text) => !system.has(text))).toEqual(spoken(source, 'user'))
  })

  test.prop([damagedHistory, target], RUNS)('keeps texts, calls and results in order', (given, format) => {
    const source = sourceOf(given)
    if (source === null || pairingOf(source).inFlight.size > 0) return
    const { history, losses } = convertHistory(source, format)
    if (losses.some((loss) => /began in the middle|a description stands/.test(loss))) return
    expect(factsOf(history)).toEqual(factsOf(source))
  })

  test.prop([damagedHistory, target], RUNS)('and back keeps them too, and says the same each time', (given, format) => {
    const source = sourceOf(given)
    if (source === null || pairingOf(source).inFlight.size > 0) return
    const there = convertHistory(source, format)
    const back = convertHistory(there.history, source.format)
    if ([...there.losses, ...back.losses].some((loss) => /began in the middle|a description stands/.test(loss))) return
    expect(factsOf(back.history)).toEqual(factsOf(source))
    expect(renderMessages(convertHistory(source, format).history.messages)).toBe(renderMessages(there.history.messages))
  })

  test.prop([damagedHistory], RUNS)('to its own format is the history itself', (given) => {
    const history = parseHistory(given.text, given.format)
    expect(convertHistory(history, given.format)).toEqual({ history, losses: [] })
    expect(convertHistory(history, given.format).history).toBe(history)
  })
})

/**
 * What every generator of random histories returns (arbitrary-FORMAT.ts, one for each format), and what they share.
 */
import fc from 'fast-check'
import type { HistoryFormat } from '../../../src/protocol/history.ts'

export interface GivenHistory {
  readonly format: HistoryFormat
  readonly text: string
  /** The messages' own texts. */
  readonly messages: readonly string[]
  /** Words of the user, in order, each with a unique token inside. */
  readonly userTexts: readonly string[]
}

export interface ArbitraryFormat {
  /** Any history: may break rules. */
  readonly any: fc.Arbitrary<GivenHistory>
  /** Valid but for advisory findings. */
  readonly valid: fc.Arbitrary<GivenHistory>
}

export const WORDS = [
  'ok',
  '',
  'é\u4e2d\ud83d\ude00',
  'a "q" \\ \n',
  '12345678901234567890',
  '</keepready-summary>',
  'path /srv/a.log',
]

export const word: fc.Arbitrary<string> = fc.constantFrom(...WORDS)

/** Mostly false. */
export const rarely: fc.Arbitrary<boolean> = fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, fc.boolean())

/** Long enough that a summary is shorter. */
export function lengthened(text: string, long: boolean): string {
  return long ? `${text} ${'some output '.repeat(60)}` : text
}

/** Keeps what the user said; `say` returns the text to write. */
export interface Said {
  readonly texts: string[]
  readonly say: (text: string) => string
}

export function startTalk(): Said {
  const texts: string[] = []
  return {
    texts,
    say(text) {
      texts.push(`u${texts.length}# ${text}`)
      return texts.at(-1) ?? ''
    },
  }
}

/** As a bare list, or with white space between tokens inside a request body. */
export function givenHistory(
  format: HistoryFormat,
  made: { readonly messages: readonly string[]; readonly userTexts: readonly string[] },
  body: { readonly pretty: boolean; readonly field: string; readonly more?: string },
): GivenHistory {
  const { messages, userTexts } = made
  const list = messages.join(body.pretty ? ' ,\n ' : ',')
  const text = body.pretty ? `{"x":1.0,${body.more ?? ''} "${body.field}" : [ ${list} ] }` : `[${list}]`
  return { format, messages, userTexts, text }
}

/**
 * Random histories as JSON text, of both formats, valid and not: parallel calls, reused ids, missing and foreign results,
 * user turns anywhere, empty contents, unicode, odd spellings of JSON.
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

/** One step of a run; `wild` steps may break provider rules. */
interface Step {
  readonly kind: 'act' | 'user' | 'system' | 'say'
  readonly calls: number
  /** Which results come back: one bit per call. */
  readonly answered: number
  /** Results come in reverse, or one comes twice. */
  readonly shuffle: boolean
  readonly twice: boolean
  /** Human text in the same message as the results (Anthropic), or between call and result (OpenAI). */
  readonly mixed: boolean
  readonly thinking: boolean
  readonly word: string
  readonly long: boolean
  readonly reuse: boolean
}

const WORDS = [
  'ok',
  '',
  'é\u4e2d\ud83d\ude00',
  'a "q" \\ \n',
  '12345678901234567890',
  '</keepready-summary>',
  'path /srv/a.log',
]

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('act', 'act', 'act', 'act', 'user', 'say', 'system'),
  calls: fc.integer({ min: 1, max: 3 }),
  answered: fc.oneof(
    { weight: 6, arbitrary: fc.constant(7) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 7 }) },
  ),
  shuffle: fc.boolean(),
  twice: fc.oneof({ weight: 12, arbitrary: fc.constant(false) }, fc.boolean()),
  mixed: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.boolean()),
  thinking: fc.boolean(),
  word: fc.constantFrom(...WORDS),
  long: fc.boolean(),
  reuse: fc.boolean(),
})

const steps = fc.array(step, { maxLength: 14 })

/** Any history: may break rules. */
export const anyHistory: fc.Arbitrary<GivenHistory> = fc
  .tuple(fc.constantFrom('openai-chat' as const, 'anthropic-messages' as const), steps, fc.boolean())
  .map(([format, list, pretty]) => write(format, list, pretty))

/** Valid but for advisory findings. */
export const validHistory: fc.Arbitrary<GivenHistory> = fc
  .tuple(fc.constantFrom('openai-chat' as const, 'anthropic-messages' as const), steps, fc.boolean())
  .map(([format, list, pretty]) =>
    write(
      format,
      list.map((one) => ({
        ...one,
        answered: 7,
        twice: false,
        mixed: one.mixed && format === 'anthropic-messages',
        reuse: one.reuse && format === 'openai-chat',
        word: one.kind === 'act' || one.word !== '' ? one.word : 'w',
      })),
      pretty,
    ),
  )

function write(format: HistoryFormat, list: readonly Step[], pretty: boolean): GivenHistory {
  const messages: string[] = []
  const userTexts: string[] = []
  const say = (word: string): string => {
    userTexts.push(`u${userTexts.length}# ${word}`)
    return userTexts.at(-1) ?? ''
  }
  messages.push(message('user', JSON.stringify(say('go'))))
  list.forEach((one, number) => {
    const word = one.long ? `${one.word} ${'some output '.repeat(60)}` : one.word
    if (one.kind === 'user') messages.push(message('user', JSON.stringify(say(word))))
    else if (one.kind === 'system') messages.push(message('system', JSON.stringify(`rule ${number}`)))
    else if (one.kind === 'say') messages.push(message('assistant', JSON.stringify(word === '' ? 'said' : word)))
    else
      messages.push(
        ...(format === 'openai-chat'
          ? actOpenAi(one, number, { word, say })
          : actAnthropic(one, number, { word, say })),
      )
  })
  const list_ = messages.join(pretty ? ' ,\n ' : ',')
  return { format, messages, userTexts, text: pretty ? `{"x":1.0, "messages" : [ ${list_} ] }` : `[${list_}]` }
}

/** Numbers, key order and white space that JSON.parse and JSON.stringify would not give back. */
function message(role: string, content: string, more = ''): string {
  return `{"role":"${role}", "content":${content}${more},"10":1.0,"9":12345678901234567890}`
}

type Words = { readonly word: string; readonly say: (word: string) => string }

function idsOf(one: Step, number: number): readonly string[] {
  return Array.from({ length: one.calls }, (_, call) => (one.reuse ? `id${call}` : `id${number}_${call}`))
}

function resultsOf(one: Step, ids: readonly string[]): readonly string[] {
  const answered = ids.filter((_, call) => (one.answered >> call) % 2 === 1)
  const ordered = one.shuffle ? [...answered].reverse() : answered
  return one.twice ? [...ordered, ...ordered.slice(0, 1)] : ordered
}

function actOpenAi(one: Step, number: number, { word, say }: Words): readonly string[] {
  const ids = idsOf(one, number)
  const calls = ids.map(
    (id) => `{"id":"${id}","type":"function","function":{"name":"run","arguments":"{\\"n\\":1.0}"}}`,
  )
  const results = resultsOf(one, ids).map((id) => message('tool', JSON.stringify(word), `,"tool_call_id":"${id}"`))
  const between = one.mixed ? [message('user', JSON.stringify(say(word)))] : []
  return [message('assistant', one.thinking ? '""' : 'null', `,"tool_calls":[${calls}]`), ...between, ...results]
}

function actAnthropic(one: Step, number: number, { word, say }: Words): readonly string[] {
  const ids = idsOf(one, number)
  const calls = ids.map(
    (id) => `{"type":"tool_use", "id":"${id}","name":"run","input":{"10":1.0,"9":12345678901234567890}}`,
  )
  const thinking = one.thinking ? [`{"type":"thinking","thinking":"t${number}","signature":"s${number}"}`] : []
  const results = resultsOf(one, ids).map(
    (id) => `{"tool_use_id":"${id}","type":"tool_result" ,"content":${JSON.stringify(word)}}`,
  )
  const human = one.mixed ? [`{"type":"text","text":${JSON.stringify(say(word))}}`] : []
  const answer = [...results, ...human]
  const act = message('assistant', `[${[...thinking, ...calls]}]`)
  return answer.length === 0 ? [act] : [act, message('user', `[ ${answer} ]`)]
}

/**
 * Random histories of Gemini contents: calls with ids, without, or with ids on one side only, two functions of which one is
 * called twice, thoughts and signatures, images, turns that a logger has split, empty contents.
 */
import fc from 'fast-check'
import { completed, idsOf, resultsOf, type Step, steps } from './arbitrary-step.ts'
import {
  type ArbitraryFormat,
  type GivenHistory,
  givenHistory,
  lengthened,
  rarely,
  type Said,
  startTalk,
} from './given-history.ts'

/** What only this format has. */
interface Habit {
  readonly ids: 'both' | 'none' | 'made-up'
  readonly signed: boolean
  readonly image: boolean
  readonly snake: boolean
  /** `role: function`, one content for every response, a content without parts. */
  readonly odd: boolean
}

const habit: fc.Arbitrary<Habit> = fc.record({
  ids: fc.constantFrom('both', 'none', 'made-up'),
  signed: fc.boolean(),
  image: rarely,
  snake: rarely,
  odd: rarely,
})
const habits = fc.array(habit, { minLength: 14, maxLength: 14 })

export const arbitraryGeminiContents: ArbitraryFormat = {
  any: fc.tuple(steps, habits, fc.boolean()).map(([list, own, pretty]) => write(list, own, { pretty })),
  valid: fc.tuple(steps, habits, fc.boolean()).map(([list, own, pretty]) =>
    write(
      list.map((one) => ({ ...completed(one), shuffle: one.shuffle && !pretty })),
      // The body names a model that wants its signatures back.
      own.map((one) => ({ ...one, odd: false, signed: one.signed || pretty })),
      { pretty },
    ),
  ),
}

function write(list: readonly Step[], own: readonly Habit[], { pretty }: { readonly pretty: boolean }): GivenHistory {
  const said = startTalk()
  const messages = [content('user', textPart(said.say('go')))]
  list.forEach((one, number) => {
    const style = own[number]
    if (style === undefined) return
    const text = lengthened(one.word, one.long)
    if (one.kind === 'user') messages.push(content('user', ...(style.image ? [IMAGE] : []), textPart(said.say(text))))
    else if (one.kind === 'system') {
      if (style.odd) messages.push(content('user'))
    } else if (one.kind === 'say') messages.push(content('model', textPart(text === '' ? 'said' : text)))
    else messages.push(...act(one, style, { number, text, said }))
  })
  const more = '"model":"gemini-3-pro-preview",'
  return givenHistory('gemini-contents', { messages, userTexts: said.texts }, { pretty, field: 'contents', more })
}

function act(
  one: Step,
  style: Habit,
  about: { readonly number: number; readonly text: string; readonly said: Said },
): readonly string[] {
  const { number, text, said } = about
  const ids = idsOf(one, number)
  const nameOf = (id: string): string => (ids.indexOf(id) === 1 ? 'read' : 'run')
  const calls = ids.map((id, place) => {
    const own = style.ids === 'both' ? `"id":"${id}",` : ''
    const signature =
      style.signed && place === 0 ? `,"${style.snake ? 'thought_signature' : 'thoughtSignature'}":"c2ln"` : ''
    return `{"${style.snake ? 'function_call' : 'functionCall'}":{${own} "name":"${nameOf(id)}","args":{"10":1.0,"9":12345678901234567890}}${signature}}`
  })
  const results = resultsOf(one, ids).map((id) => {
    const own = style.ids === 'none' ? '' : `"id":"${style.ids === 'both' ? id : `made-${id}`}",`
    const output = number % 3 === 2 ? `{"error":${JSON.stringify(text)}}` : `{"output":${JSON.stringify(text)}}`
    return `{"functionResponse":{${own}"name":"${nameOf(id)}","response":${output}}}`
  })
  const thought = one.thinking ? [`{"text":"t${number}","thought":true}`] : []
  const human = one.mixed ? [textPart(said.say(text))] : []
  const answer = [...results, ...human]
  if (style.odd) return [content('model', ...thought, ...calls), ...answer.map((part) => content('function', part))]
  return [content('model', ...thought, ...calls), ...(answer.length === 0 ? [] : [content('user', ...answer)])]
}

const IMAGE = '{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}'

function textPart(text: string): string {
  return `{ "text":${JSON.stringify(text)}}`
}

/** Numbers and white space that JSON.parse and JSON.stringify would not give back. */
function content(role: string, ...parts: readonly string[]): string {
  return `{"role":"${role}","10":1.0, "parts":[ ${parts.join(' ,')}],"9":12345678901234567890}`
}

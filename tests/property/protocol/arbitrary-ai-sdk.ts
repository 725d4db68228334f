/**
 * Random histories of AI SDK messages: tool outputs of every type, tools that the provider runs itself, approvals, results in
 * several tool messages, empty tool messages, reasoning with provider options, images, spellings of older versions.
 */
import fc from 'fast-check'
import { completed, idsOf, oddMessage, resultsOf, type Step, steps } from './arbitrary-step.ts'
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
  readonly output: 'text' | 'json' | 'error-text' | 'content' | 'execution-denied'
  readonly hosted: boolean
  readonly approval: boolean
  readonly apart: boolean
  readonly image: boolean
  /** `args` and `result` as version 4 has them, a message without parts. */
  readonly odd: boolean
}

const habit: fc.Arbitrary<Habit> = fc.record({
  output: fc.constantFrom('text', 'json', 'error-text', 'content', 'execution-denied'),
  hosted: rarely,
  approval: rarely,
  apart: fc.boolean(),
  image: rarely,
  odd: rarely,
})
const habits = fc.array(habit, { minLength: 14, maxLength: 14 })

export const arbitraryAiSdk: ArbitraryFormat = {
  any: fc.tuple(steps, habits, fc.boolean()).map(([list, own, pretty]) => write(list, own, { pretty })),
  valid: fc.tuple(steps, habits, fc.boolean()).map(([list, own, pretty]) =>
    write(
      list.map((one) => ({ ...completed(one), mixed: false })),
      own.map((one) => ({ ...one, odd: false })),
      { pretty },
    ),
  ),
}

function write(list: readonly Step[], own: readonly Habit[], { pretty }: { readonly pretty: boolean }): GivenHistory {
  const said = startTalk()
  const messages = [oddMessage('user', JSON.stringify(said.say('go')))]
  list.forEach((one, number) => {
    const style = own[number]
    if (style === undefined) return
    const text = lengthened(one.word, one.long)
    if (one.kind === 'user') messages.push(user(said.say(text), style))
    else if (one.kind === 'system') messages.push(oddMessage('system', JSON.stringify(`rule ${number}`)))
    else if (one.kind === 'say')
      messages.push(oddMessage('assistant', style.odd ? '[]' : JSON.stringify(text === '' ? 'said' : text)))
    else messages.push(...act(one, style, { number, text, said }))
  })
  const made = { messages, userTexts: said.texts }
  return givenHistory('ai-sdk', made, { pretty, field: 'messages', more: '"tools":{"run":{}},' })
}

function user(text: string, { image }: Habit): string {
  const part = JSON.stringify(text)
  if (!image) return oddMessage('user', part)
  return oddMessage(
    'user',
    `[{"type":"image","image":"iVBORw0KGgo=","mediaType":"image/png"}, {"type":"text","text":${part}}]`,
  )
}

function act(
  one: Step,
  style: Habit,
  about: { readonly number: number; readonly text: string; readonly said: Said },
): readonly string[] {
  const { number, text, said } = about
  const ids = idsOf(one, number)
  const calls = ids.map((id) => {
    const hosted = style.hosted ? ',"providerExecuted":true' : ''
    return `{"type":"tool-call", "toolCallId":"${id}","toolName":"run","${style.odd ? 'args' : 'input'}":{"10":1.0,"9":12345678901234567890}${hosted}}`
  })
  const results = resultsOf(one, ids).map(
    (id) => `{"type":"tool-result","toolCallId":"${id}","toolName":"run" ,${outputOf(style, text)}}`,
  )
  const reasoning = one.thinking
    ? [`{"type":"reasoning","text":"t${number}","providerOptions":{"anthropic":{"signature":"s${number}"}}}`]
    : []
  if (style.hosted) return [oddMessage('assistant', `[${[...reasoning, ...calls, ...results]}]`)]
  const asks = style.approval
    ? [`{"type":"tool-approval-request","approvalId":"p${number}","toolCallId":"${ids[0]}"}`]
    : []
  const agrees = style.approval
    ? [oddMessage('tool', `[{"type":"tool-approval-response","approvalId":"p${number}","approved":true}]`)]
    : []
  const between = one.mixed ? [oddMessage('user', JSON.stringify(said.say(text)))] : []
  const answers = style.apart
    ? [...results.map((result) => oddMessage('tool', `[${result}]`)), oddMessage('tool', '[]')]
    : results.length === 0
      ? []
      : [oddMessage('tool', `[ ${results} ]`)]
  return [oddMessage('assistant', `[${[...reasoning, ...calls, ...asks]}]`), ...between, ...agrees, ...answers]
}

function outputOf({ output, odd }: Habit, text: string): string {
  const value = JSON.stringify(text)
  if (odd) return output === 'json' ? `"output":${value}` : `"result":${value}`
  switch (output) {
    case 'json':
      return `"output":{"type":"json","value":{"n":1.0,"text":${value}}}`
    case 'content':
      return `"output":{"type":"content","value":[{"type":"text","text":${value}},{"type":"image-data","data":"iVBORw0KGgo=","mediaType":"image/png"}]}`
    case 'execution-denied':
      return '"output":{"type":"execution-denied"}'
    default:
      return `"output":{"type":"${output}","value":${value}}`
  }
}

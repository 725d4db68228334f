/** Random histories of Anthropic Messages. */
import fc from 'fast-check'
import { completed, idsOf, oddMessage, resultsOf, type Step, steps } from './arbitrary-step.ts'
import {
  type ArbitraryFormat,
  type GivenHistory,
  givenHistory,
  lengthened,
  type Said,
  startTalk,
} from './given-history.ts'

export const arbitraryAnthropicMessages: ArbitraryFormat = {
  any: fc.tuple(steps, fc.boolean()).map(([list, pretty]) => write(list, pretty)),
  valid: fc.tuple(steps, fc.boolean()).map(([list, pretty]) =>
    write(
      list.map((one) => ({ ...completed(one), reuse: false })),
      pretty,
    ),
  ),
}

function write(list: readonly Step[], pretty: boolean): GivenHistory {
  const said = startTalk()
  const messages = [oddMessage('user', JSON.stringify(said.say('go')))]
  list.forEach((one, number) => {
    const text = lengthened(one.word, one.long)
    if (one.kind === 'user') messages.push(oddMessage('user', JSON.stringify(said.say(text))))
    else if (one.kind === 'system') messages.push(oddMessage('system', JSON.stringify(`rule ${number}`)))
    else if (one.kind === 'say') messages.push(oddMessage('assistant', JSON.stringify(text === '' ? 'said' : text)))
    else messages.push(...act(one, number, { text, said }))
  })
  return givenHistory('anthropic-messages', { messages, userTexts: said.texts }, { pretty, field: 'messages' })
}

function act(one: Step, number: number, { text, said }: { text: string; said: Said }): readonly string[] {
  const ids = idsOf(one, number)
  const calls = ids.map(
    (id) => `{"type":"tool_use", "id":"${id}","name":"run","input":{"10":1.0,"9":12345678901234567890}}`,
  )
  const thinking = one.thinking ? [`{"type":"thinking","thinking":"t${number}","signature":"s${number}"}`] : []
  const results = resultsOf(one, ids).map(
    (id) => `{"tool_use_id":"${id}","type":"tool_result" ,"content":${JSON.stringify(text)}}`,
  )
  const human = one.mixed ? [`{"type":"text","text":${JSON.stringify(said.say(text))}}`] : []
  const answer = [...results, ...human]
  const message = oddMessage('assistant', `[${[...thinking, ...calls]}]`)
  return answer.length === 0 ? [message] : [message, oddMessage('user', `[ ${answer} ]`)]
}

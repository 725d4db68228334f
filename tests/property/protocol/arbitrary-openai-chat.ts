/** Random histories of OpenAI chat. */
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

export const arbitraryOpenAiChat: ArbitraryFormat = {
  any: fc.tuple(steps, fc.boolean()).map(([list, pretty]) => write(list, pretty)),
  valid: fc.tuple(steps, fc.boolean()).map(([list, pretty]) =>
    write(
      list.map((one) => ({ ...completed(one), mixed: false })),
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
  return givenHistory('openai-chat', { messages, userTexts: said.texts }, { pretty, field: 'messages' })
}

function act(one: Step, number: number, { text, said }: { text: string; said: Said }): readonly string[] {
  const ids = idsOf(one, number)
  const calls = ids.map(
    (id) => `{"id":"${id}","type":"function","function":{"name":"run","arguments":"{\\"n\\":1.0}"}}`,
  )
  const results = resultsOf(one, ids).map((id) => oddMessage('tool', JSON.stringify(text), `,"tool_call_id":"${id}"`))
  const between = one.mixed ? [oddMessage('user', JSON.stringify(said.say(text)))] : []
  return [oddMessage('assistant', one.thinking ? '""' : 'null', `,"tool_calls":[${calls}]`), ...between, ...results]
}

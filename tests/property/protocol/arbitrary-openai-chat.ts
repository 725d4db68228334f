/** Random histories of OpenAI chat. */
import { arbitraryChat } from './arbitrary-chat.ts'
import { idsOf, oddMessage, resultsOf, type Step } from './arbitrary-step.ts'
import type { ArbitraryFormat, Said } from './given-history.ts'

export const arbitraryOpenAiChat: ArbitraryFormat = arbitraryChat({
  format: 'openai-chat',
  valid: { mixed: false },
  act,
})

function act(one: Step, number: number, { text, said }: { text: string; said: Said }): readonly string[] {
  const ids = idsOf(one, number)
  const calls = ids.map(
    (id) => `{"id":"${id}","type":"function","function":{"name":"run","arguments":"{\\"n\\":1.0}"}}`,
  )
  const results = resultsOf(one, ids).map((id) => oddMessage('tool', JSON.stringify(text), `,"tool_call_id":"${id}"`))
  const between = one.mixed ? [oddMessage('user', JSON.stringify(said.say(text)))] : []
  return [oddMessage('assistant', one.thinking ? '""' : 'null', `,"tool_calls":[${calls}]`), ...between, ...results]
}

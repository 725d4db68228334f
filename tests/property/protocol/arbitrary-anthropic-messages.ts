/** Random histories of Anthropic Messages. */
import { arbitraryChat } from './arbitrary-chat.ts'
import { idsOf, oddMessage, resultsOf, type Step } from './arbitrary-step.ts'
import type { ArbitraryFormat, Said } from './given-history.ts'

export const arbitraryAnthropicMessages: ArbitraryFormat = arbitraryChat({
  format: 'anthropic-messages',
  valid: { reuse: false },
  act,
})

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

/**
 * Random histories of OpenAI Responses: reasoning with and without encrypted content, parallel calls of functions, custom
 * tools and shells, outputs of every shape, early, late, missing and twice, compactions, references and user turns anywhere.
 * Every item's text is unique, so that a test can follow it through a compaction.
 */
import fc from 'fast-check'
import {
  type ArbitraryFormat,
  type GivenHistory,
  givenHistory,
  lengthened,
  rarely,
  type Said,
  startTalk,
  word,
} from './given-history.ts'

interface Call {
  readonly tool: 'function' | 'custom' | 'shell'
  readonly outputs: 0 | 1 | 2
  readonly shape: 'string' | 'parts' | 'image' | 'object'
  /** Its own reasoning item, beside the first of the run. */
  readonly thinking: boolean
}

interface Step {
  readonly kind: 'act' | 'user' | 'say' | 'system' | 'compaction' | 'search' | 'reference' | 'thought'
  readonly calls: readonly Call[]
  readonly reasoning: 'none' | 'bare' | 'encrypted' | 'shown'
  /** Item ids (fc_, msg_), which a stateless client leaves out. */
  readonly named: boolean
  readonly preamble: boolean
  /** Outputs come in reverse; after a word of the user; or after what the model does next. */
  readonly shuffle: boolean
  readonly steered: boolean
  readonly late: boolean
  readonly compacted: 'no' | 'in-run' | 'before-outputs'
  readonly reuse: boolean
  readonly word: string
  readonly long: boolean
}

const call: fc.Arbitrary<Call> = fc.record({
  tool: fc.constantFrom('function', 'function', 'function', 'custom', 'shell'),
  outputs: fc.oneof({ weight: 12, arbitrary: fc.constant(1 as const) }, fc.constantFrom(0 as const, 2 as const)),
  shape: fc.constantFrom('string', 'string', 'string', 'parts', 'image', 'object'),
  thinking: rarely,
})

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom('act' as const, 'act' as const, 'act' as const, 'user' as const) },
    { weight: 3, arbitrary: fc.constantFrom('say' as const, 'search' as const, 'system' as const) },
    { weight: 1, arbitrary: fc.constantFrom('compaction' as const, 'reference' as const, 'thought' as const) },
  ),
  calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  reasoning: fc.constantFrom('none', 'bare', 'encrypted', 'shown'),
  named: fc.boolean(),
  preamble: rarely,
  shuffle: fc.boolean(),
  steered: rarely,
  late: rarely,
  compacted: fc.oneof(
    { weight: 10, arbitrary: fc.constant('no' as const) },
    fc.constantFrom('in-run', 'before-outputs'),
  ),
  reuse: rarely,
  word,
  long: fc.boolean(),
})

const body = fc.record({
  pretty: fc.boolean(),
  field: fc.constantFrom('input', 'items', 'output'),
  more: fc.constantFrom('', '"store":false,', '"instructions":"be brief",'),
})

/** A list that goes on from a response which the provider holds. */
const chained = fc.record({
  pretty: fc.constant(true),
  field: fc.constant('input'),
  more: fc.constantFrom('"previous_response_id":"resp_1",', '"conversation":{"id":"conv_1"},'),
})

const steps = fc.array(step, { maxLength: 14 })

export const arbitraryOpenAiResponses: ArbitraryFormat = {
  any: fc
    .tuple(steps, fc.oneof({ weight: 8, arbitrary: body }, chained))
    .map(([list, around]) => write(list, around, false)),
  valid: fc.tuple(steps, body).map(([list, around]) => write(list.map(completed), around, true)),
}

export const chainedResponses: fc.Arbitrary<GivenHistory> = fc
  .tuple(steps, chained)
  .map(([list, around]) => write(list.map(completed), around, true))

function completed(one: Step): Step {
  return {
    ...one,
    kind: one.kind === 'thought' ? 'act' : one.kind,
    calls: one.calls.map((each) => ({ ...each, outputs: 1 as const })),
    late: one.late && !one.reuse,
    word: one.kind === 'act' || one.word !== '' ? one.word : 'w',
  }
}

function write(
  list: readonly Step[],
  around: { readonly pretty: boolean; readonly field: string; readonly more: string },
  complete: boolean,
): GivenHistory {
  const said = startTalk()
  const run: Run = { items: [], pending: [], said, made: 0 }
  run.items.push(userItem(run, 'go'))
  list.forEach((one, number) => {
    addStep(run, one, number)
  })
  if (complete) run.items.push(...run.pending.splice(0))
  return givenHistory('openai-responses', { messages: run.items, userTexts: said.texts }, around)
}

interface Run {
  readonly items: string[]
  /** Outputs that come after the next thing the model does. */
  readonly pending: string[]
  readonly said: Said
  /** Items made so far, late ones too. */
  made: number
}

function addStep(run: Run, one: Step, number: number): void {
  const text = lengthened(one.word, one.long)
  const { items } = run
  switch (one.kind) {
    case 'user':
      items.push(userItem(run, text))
      return
    case 'system':
      items.push(item(run, '"type":"message","role":"developer"', `"content":"rule ${number}"`))
      return
    case 'compaction':
      items.push(compaction(run))
      return
    case 'reference':
      items.push(item(run, `"type":"item_reference"`, `"id":"rs_ref${number}"`))
      return
    case 'thought':
      items.push(reasoning(run, one.reasoning, `${number}`))
      return
    case 'say':
    case 'search':
      addSaying(run, one, { number, text })
      return
    case 'act':
      addAct(run, one, { number, text })
      return
    default:
      one.kind satisfies never
  }
}

function addSaying(run: Run, one: Step, { number, text }: { readonly number: number; readonly text: string }): void {
  const { items } = run
  if (one.reasoning !== 'none') items.push(reasoning(run, one.reasoning, `${number}`))
  if (one.kind === 'search')
    items.push(item(run, `"type":"web_search_call","id":"ws_${number}"`, '"status":"completed","action":{"query":"q"}'))
  items.push(said(run, one.named ? `,"id":"msg_${number}"` : '', text))
  items.push(...run.pending.splice(0))
}

function addAct(run: Run, one: Step, { number, text }: { readonly number: number; readonly text: string }): void {
  const { items } = run
  const outputs: string[] = []
  if (one.reasoning !== 'none') items.push(reasoning(run, one.reasoning, `${number}`))
  if (one.compacted === 'in-run') items.push(compaction(run))
  if (one.preamble) items.push(said(run, one.named ? `,"id":"msg_${number}"` : '', 'I look.'))
  one.calls.forEach((each, place) => {
    const id = one.reuse ? `c${place}` : `c${number}_${place}`
    if (each.thinking) items.push(reasoning(run, 'encrypted', `${number}_${place}`))
    items.push(item(run, callHead(each, id), one.named ? `"id":"fc_${number}_${place}"` : '"status":"completed"'))
    for (let time = 0; time < each.outputs; time++)
      outputs.push(item(run, `"type":"${OUTPUTS[each.tool]}","call_id":"${id}"`, `"output" : ${outputOf(each, text)}`))
  })
  if (one.compacted === 'before-outputs') items.push(compaction(run))
  items.push(...run.pending.splice(0))
  if (one.steered) items.push(userItem(run, text))
  if (one.shuffle) outputs.reverse()
  const late = one.late ? Math.ceil(outputs.length / 2) : 0
  items.push(...outputs.slice(late))
  run.pending.push(...outputs.slice(0, late))
}

const OUTPUTS = {
  function: 'function_call_output',
  custom: 'custom_tool_call_output',
  shell: 'shell_call_output',
} as const

function callHead({ tool }: Call, id: string): string {
  switch (tool) {
    case 'function':
      return `"type":"function_call","call_id":"${id}","name":"run","arguments":"{\\"n\\":1.0}"`
    case 'custom':
      return `"type":"custom_tool_call","call_id":"${id}","name":"patch","input":"*** Begin\\n+a"`
    case 'shell':
      return `"type":"shell_call","call_id":"${id}","action":{"commands":["ls"],"n":1.0}`
    default:
      return tool satisfies never
  }
}

function outputOf({ shape }: Call, text: string): string {
  switch (shape) {
    case 'string':
      return JSON.stringify(text)
    case 'parts':
      return `[{"type":"input_text","text":${JSON.stringify(text)}}]`
    case 'image':
      return `[{"type":"input_text","text":${JSON.stringify(text)}},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]`
    case 'object':
      return `{"content":${JSON.stringify(text)},"success":true}`
    default:
      return shape satisfies never
  }
}

function userItem(run: Run, text: string): string {
  const words = JSON.stringify(run.said.say(text))
  const plain = run.said.texts.length % 2 === 0
  return plain
    ? item(run, '"role":"user"', `"content":${words}`)
    : item(run, '"type":"message","role":"user"', `"content":[ {"type":"input_text", "text":${words}} ]`)
}

function said(run: Run, id: string, text: string): string {
  const words = JSON.stringify(text === '' ? 'said' : text)
  return item(run, `"type":"message","role":"assistant"${id}`, `"content":[{"type":"output_text","text":${words}}]`)
}

function reasoning(run: Run, kind: Step['reasoning'], id: string): string {
  const more = {
    none: '"summary":[]',
    bare: '"summary":[]',
    encrypted: '"summary":[],"encrypted_content":"eA=="',
    shown: '"summary":[{"type":"summary_text","text":"think"}],"encrypted_content":null',
  }[kind]
  return item(run, `"type":"reasoning","id":"rs_${id}"`, more)
}

function compaction(run: Run): string {
  return item(run, `"type":"compaction","id":"cmp_${run.items.length}"`, '"encrypted_content":"b3BhcXVl"')
}

/** Numbers, key order and white space that JSON.parse and JSON.stringify would not give back. */
function item(run: Run, head: string, tail: string): string {
  run.made += 1
  return `{${head}, ${tail},"10":1.0,"9":12345678901234567${run.made}}`
}

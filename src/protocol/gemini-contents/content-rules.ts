/**
 * G1, G4, G5, G7: order, signatures and empty parts of Gemini contents. Two user contents in a row break none of them (G1
 * asks for a user turn or a function-response turn before a call, and Gemini CLI sends such lists), so a summary is a
 * content of its own. It also starts a new turn, which can only free earlier calls from G4. Pure.
 */
import type { JsonValue } from '../history.ts'
import { jsonPointer } from '../json-pointer.ts'
import { advisoryIf, type Finding, quote, type Rule, type RuleInput } from '../rules/rule.ts'
import { isObject, type Segment } from '../segment.ts'
import { ASK, call, contents, model, response, user } from './examples.ts'
import { partField } from './part-field.ts'

const forModel = (name: string, ...list: readonly string[]): string =>
  `{"model":"${name}","contents":${contents(...list)}}`
const SIGNED = [ASK, model(call('ls', { signed: true })), user(response('ls'))]

export const GEMINI_CONTENT_RULES: readonly Rule[] = [
  {
    id: 'G1',
    format: 'gemini-contents',
    sentence:
      'The first content has role user, and a function call comes directly after a user turn or a function-response turn.',
    check: checkOrder,
    examples: { violating: contents(model('{"text":"hello"}'), ASK), valid: contents(ASK) },
  },
  {
    id: 'G4',
    format: 'gemini-contents',
    sentence:
      'Gemini 3: the first function call of every step of the current turn carries its thoughtSignature on its own part.',
    check: checkSignatures,
    examples: {
      violating: forModel('gemini-3-pro-preview', ASK, model(call('ls')), user(response('ls'))),
      valid: forModel('gemini-3-pro-preview', ...SIGNED),
    },
  },
  {
    id: 'G5',
    format: 'gemini-contents',
    sentence:
      'A thoughtSignature is what the model gave (base64) or the documented placeholder; no other text stands in for it.',
    check: checkPlaceholders,
    examples: {
      violating: contents(
        ASK,
        model('{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"not signed"}'),
        user(response('ls')),
      ),
      valid: contents(...SIGNED),
    },
  },
  {
    id: 'G7',
    format: 'gemini-contents',
    sentence: 'No content is without parts, and no part is empty (but a signature may stand beside an empty text).',
    check: checkEmpty,
    examples: { violating: contents('{"role":"user","parts":[{"text":""}]}'), valid: contents(ASK) },
  },
]

function checkOrder({ history, segments }: RuleInput): readonly Finding[] {
  const { messages, listField } = history
  return messages.flatMap(({ role }, number): readonly Finding[] => {
    if (role !== 'assistant') return []
    const findings: Finding[] = []
    const at = (message: string): Finding => ({ pointer: jsonPointer([listField, number]), message })
    if (number === 0) findings.push(at('the first content has role model, not user'))
    else if (holdsCall(segments[number]) && messages[number - 1]?.role === 'assistant') {
      // A logger may have split one turn into its thoughts and its calls; split calls are certainly rejected (G2).
      const isSplit = !holdsCall(segments[number - 1])
      findings.push(advisoryIf(isSplit, at('a function call directly after another content of the model')))
    }
    if (number > 0 && number === messages.length - 1)
      findings.push({
        ...at("the last content is the model's: some hosts want a user content after it"),
        advisory: true,
      })
    return findings
  })
}

function holdsCall(segments: readonly Segment[] | undefined): boolean {
  return segments?.some((segment) => segment.kind === 'call') ?? false
}

/** Models that refuse a call without signature; the image models of the family do not. */
const STRICT_MODEL = /\bgemini-(?:[3-9]|\d\d)(?!.*image)/
/** Models that certainly take one. */
const LENIENT_MODEL = /\bgemini-[12](?!\d)|\bgemma/

/** Advisory when the request names no model (in REST it stands in the URL), or an alias such as gemini-flash-latest. */
function checkSignatures({ history, segments }: RuleInput): readonly Finding[] {
  const { model: name } = history.request
  const isStrict = typeof name === 'string' && STRICT_MODEL.test(name)
  if (typeof name === 'string' && LENIENT_MODEL.test(name)) return []
  const findings: Finding[] = []
  // The current turn begins with the last user content that holds more than function responses.
  const start = history.messages.findLastIndex(
    ({ role }, number) => role === 'user' && (segments[number] ?? []).some((segment) => segment.kind !== 'result'),
  )
  let stepHasCall = false
  for (let number = start + 1; number < history.messages.length; number++) {
    const message = history.messages[number]
    if (message?.role !== 'assistant') {
      stepHasCall = false
      continue
    }
    const first = segments[number]?.find((segment) => segment.kind === 'call')
    if (first === undefined || stepHasCall) continue
    stepHasCall = true
    if (signatureOf(message.blocks?.[first.block ?? 0]?.value) !== null) continue
    const text = `function call ${quote(first.name)} of the current turn without its thoughtSignature`
    findings.push(advisoryIf(!isStrict, { pointer: first.pointer, message: text }))
  }
  return findings
}

function signatureOf(part: JsonValue | undefined): string | null {
  const value = isObject(part) ? partField(part, 'thoughtSignature')?.value : null
  return typeof value === 'string' && value !== '' ? value : null
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/** Advisory: that the field is bytes, hence base64, is documented; what each host makes of other text is not. */
function checkPlaceholders({ history }: RuleInput): readonly Finding[] {
  return history.messages.flatMap(({ blocks }, number) =>
    (blocks ?? []).flatMap(({ value }, block): readonly Finding[] => {
      const found = isObject(value) ? partField(value, 'thoughtSignature') : null
      if (found === null || (typeof found.value === 'string' && BASE64.test(found.value))) return []
      const pointer = jsonPointer([history.listField, number, 'parts', block])
      return [{ pointer, message: 'a thoughtSignature that is no base64 text', advisory: true }]
    }),
  )
}

function checkEmpty({ history, segments }: RuleInput): readonly Finding[] {
  return history.messages.flatMap(({ blocks }, number): readonly Finding[] => {
    if (blocks === null || blocks.length === 0)
      return [{ pointer: jsonPointer([history.listField, number]), message: 'a content without parts' }]
    return (segments[number] ?? [])
      .filter((segment) => segment.kind === 'text' || segment.kind === 'reasoning')
      .filter(({ text, block }) => text === '' && signatureOf(blocks[block ?? 0]?.value) === null)
      .map(({ pointer }) => ({ pointer, message: 'an empty part' }))
  })
}

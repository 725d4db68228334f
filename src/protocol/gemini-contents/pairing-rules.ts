/**
 * G2, G3, G6: function calls and responses of Gemini contents. Pure.
 */
import type { History } from '../history.ts'
import { advisoryIf, type Finding, quote, type Rule, type RuleInput } from '../rules/rule.ts'
import { isObject, type ResultSegment } from '../segment.ts'
import { type Batch, findBatches } from './batches.ts'
import { ASK, call, contents, model, response, user } from './examples.ts'
import { partField } from './part-field.ts'

const VALID = contents(ASK, model(call('ls', { signed: true })), user(response('ls')))
const TWO_CALLS = model(call('ls', { id: 'k1', signed: true }), call('ls', { id: 'k2' }))

export const GEMINI_PAIRING_RULES: readonly Rule[] = [
  {
    id: 'G2',
    format: 'gemini-contents',
    sentence: 'The content after a turn with function calls holds as many function responses as there are calls.',
    check: checkCounts,
    examples: { violating: contents(ASK, model(call('ls', { signed: true })), ASK), valid: VALID },
  },
  {
    id: 'G3',
    format: 'gemini-contents',
    sentence: 'All responses of a batch stand in one content, and the id of a response is that of a call.',
    check: checkTogether,
    examples: {
      violating: contents(ASK, TWO_CALLS, user(response('ls', 'k1')), user(response('ls', 'k2'))),
      valid: contents(ASK, TWO_CALLS, user(response('ls', 'k1'), response('ls', 'k2'))),
    },
  },
  {
    id: 'G6',
    format: 'gemini-contents',
    sentence: 'A function response has the name of its call, and its response is an object.',
    check: checkNames,
    examples: {
      violating: contents(
        ASK,
        model(call('ls', { signed: true })),
        user('{"functionResponse":{"name":"ls","response":"ok"}}'),
      ),
      valid: VALID,
    },
  },
]

function checkCounts(input: RuleInput): readonly Finding[] {
  return findBatches(input).flatMap((batch) => [...missing(batch, input), ...surplus(batch)])
}

function missing({ calls, results, unanswered }: Batch, input: RuleInput): readonly Finding[] {
  return unanswered.slice(0, Math.max(0, calls.length - results.length)).map(({ pointer, name }) => {
    const waits = input.inFlight.has(pointer)
    const message = `function call ${quote(name)} ${waits ? 'is still in flight: its response has yet to come' : 'has no function response in the next content'}`
    return advisoryIf(waits, { pointer, message })
  })
}

function surplus(batch: Batch): readonly Finding[] {
  return unmatched(batch)
    .slice(0, surplusCount(batch))
    .map(({ pointer, name }) => ({
      pointer,
      message: `function response ${quote(name)}, which answers no call of the turn before it`,
    }))
}

function surplusCount({ calls, results }: Batch): number {
  return Math.max(0, results.length - calls.length)
}

function unmatched({ results }: Batch): readonly ResultSegment[] {
  return results.filter(({ answers }) => answers === null).map(({ result }) => result)
}

function checkTogether(input: RuleInput): readonly Finding[] {
  return findBatches(input).flatMap((batch) => {
    if (batch.calls.length === 0) return []
    return [...spread(batch), ...foreignIds(batch), ...permuted(batch), ...mixed(batch, input)]
  })
}

function spread({ results }: Batch): readonly Finding[] {
  const other = results.find(({ content }) => content !== results[0]?.content)
  if (other === undefined) return []
  return [{ pointer: other.result.pointer, message: 'a second content with responses of the same batch' }]
}

function foreignIds(batch: Batch): readonly Finding[] {
  return unmatched(batch)
    .slice(surplusCount(batch))
    .filter(({ id }) => id !== null)
    .map(({ pointer, id }) => ({
      pointer,
      message: `function response with id ${quote(id)}, which no open call of its batch has`,
    }))
}

/** Some hosts compare by position, whatever the ids say. */
function permuted({ results }: Batch): readonly Finding[] {
  const wrong = results.find(({ answers }, number) => {
    const before = results[number - 1]?.answers ?? null
    return answers !== null && before !== null && answers < before
  })
  if (wrong === undefined) return []
  return [{ pointer: wrong.result.pointer, message: 'responses in another order than their calls', advisory: true }]
}

/** Reported for Gemini 3 on Vertex (anomalyco/opencode#43479); older models take text beside responses. */
function mixed({ results }: Batch, { segments }: RuleInput): readonly Finding[] {
  return [...new Set(results.map(({ content }) => content))].flatMap((content) => {
    const other = (segments[content] ?? []).find((segment) => segment.kind !== 'result')
    if (other === undefined) return []
    return [{ pointer: other.pointer, message: 'other parts beside the function responses', advisory: true as const }]
  })
}

function checkNames(input: RuleInput): readonly Finding[] {
  return findBatches(input).flatMap(({ calls, results }) =>
    results.flatMap(({ result, content, answers }): readonly Finding[] => {
      const { pointer, name, id } = result
      const expected = answers === null ? null : (calls[answers]?.name ?? null)
      const findings: Finding[] = []
      if (name === null) findings.push({ pointer, message: 'a function response without a name' })
      else if (expected !== null && name !== expected)
        findings.push({
          pointer,
          // The API pairs wrongly and says nothing.
          message: `function response ${quote(name)} to a call of ${quote(expected)}`,
          advisory: true,
        })
      else if (answers === null && id === null && calls.length >= results.length)
        findings.push({
          pointer,
          message: `function response ${quote(name)}: no open call has this name`,
          advisory: true,
        })
      if (!hasObject(input.history, content, result))
        findings.push({ pointer, message: 'a function response whose `response` is no object' })
      return findings
    }),
  )
}

function hasObject(history: History, content: number, { block }: ResultSegment): boolean {
  const part = block === null ? undefined : history.messages[content]?.blocks?.[block]?.value
  const answer = isObject(part) ? partField(part, 'functionResponse')?.value : undefined
  return isObject(answer) && isObject(answer.response)
}

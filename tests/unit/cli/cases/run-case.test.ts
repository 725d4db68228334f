import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../../../models/package-root.ts'
import { type CaseFile, parseCaseFile } from '../../../../src/cli/cases/case-file.schema.ts'
import { hasPassed, runCase } from '../../../../src/cli/cases/run-case.ts'
import type { JsonValue } from '../../../../src/protocol/history.ts'
import { isObject } from '../../../../src/protocol/segment.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

function casesIn(folder: string): readonly CaseFile[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => parseCaseFile(name, readFileSync(join(folder, name), 'utf8')))
}

const parsed = (given: object): CaseFile => parseCaseFile('case.json', JSON.stringify(given))

async function failures(cases: readonly CaseFile[]): Promise<readonly string[]> {
  const reports = await Promise.all(cases.map(runCase))
  return reports.filter((report) => !hasPassed(report)).map(({ id, detail }) => `${id}: ${JSON.stringify(detail)}`)
}

const ROWS = Array.from({ length: 120 }, (_, row) => `row ${row} of the listing, value ${(row * 7919) % 1000}`).join(
  '\n',
)

/** Every tool result made long enough that summaries are worth it, and histories really are compacted. */
function withLongResults(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withLongResults)
  if (!isObject(value)) return value
  const copy: { [key: string]: JsonValue } = {}
  for (const [key, member] of Object.entries(value)) copy[key] = withLongResults(member)
  const field = copy.role === 'tool' || copy.type === 'tool_result' ? 'content' : 'output'
  const isResult = copy.role === 'tool' || copy.type === 'tool_result' || copy.type === 'function_call_output'
  if (isResult && typeof copy[field] === 'string') copy[field] = `${copy[field]}\n${ROWS}`
  return copy
}

describe('the cases of this project', () => {
  const cases = casesIn(packageFile('tests', 'fixtures', 'cases'))
  it.each(cases)('$id: $title', async (given) => {
    expect(await failures([given])).toEqual([])
  })
})

describe('the shared cases', () => {
  itWithShared('all pass', async () => {
    const cases = casesIn(sharedPath('cases'))
    expect(cases.length).toBeGreaterThanOrEqual(20)
    expect(await failures(cases)).toEqual([])
  })
  itWithShared('pass as well when results are long enough to be worth a summary', async () => {
    const long = casesIn(sharedPath('cases'))
      .filter((given) => given.operation === 'compact' && !/^(?:17|21)-/.test(given.id))
      .map((given) => parsed({ ...given, input: withLongResults(given.input ?? null) }))
    expect(await failures(long)).toEqual([])
    const outcomes = await Promise.all(long.map(async (given) => (await runCase(given)).output))
    const applied = outcomes.filter((output) => isObject(output) && output.outcome === 'applied')
    expect(applied.length).toBeGreaterThanOrEqual(8)
  })
})

describe('the checks', () => {
  const history = [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'ls', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'a', content: 'ok' },
  ]
  const wrong: Readonly<Record<string, unknown>> = {
    firstRole: 'assistant',
    lastRole: 'user',
    mustContainText: ['not there'],
    mustNotContainText: ['go'],
    order: ['tool:a', 'a'],
    lastMessageIs: { role: 'tool', tool_call_id: 'b' },
    keptToolUseIds: ['b'],
    interactions: 2,
    interaction0: { toolCalls: 1, observations: 2 },
    pairs: [['ls', 'other']],
    duplicateResults: 1,
    deterministic: false,
    throws: true,
    triggers: [true],
    contextTokens: [1],
    refusedReason: 'no_gain',
    historyUnchangedOnBadSummary: true,
    imageBlockTokensBetween: [1, 6000],
    textBlockTokensAtLeast: 10_000,
  }
  it.each(Object.entries(wrong))('%s can fail', async (key, expected) => {
    const given = parsed({
      id: key,
      format: 'openai-chat',
      operation: 'parse+render',
      assert: { [key]: expected },
      input: history,
    })
    const report = await runCase(given)
    expect(report.checks).toEqual({ [key]: 'fail' })
    expect(hasPassed(report)).toBe(false)
  })
  it('an assert key that nobody knows is unchecked, and a case with nothing checked has not passed', async () => {
    const given = parsed({
      id: 'x',
      format: 'openai-chat',
      operation: 'parse',
      assert: { nobodyKnows: 1 },
      input: history,
    })
    const report = await runCase(given)
    expect(report.checks).toEqual({ nobodyKnows: 'unchecked' })
    expect(hasPassed(report)).toBe(false)
  })
  it('a history that is none ends in its named error', async () => {
    const given = parsed({ id: 'x', format: 'openai-chat', operation: 'parse', assert: { throws: false }, input: 7 })
    const report = await runCase(given)
    expect(report.checks).toEqual({ throws: 'fail' })
    expect(report.output).toMatchObject({ error: { code: 'history-malformed' } })
  })
})

describe('parseCaseFile', () => {
  it.each([
    ['{', 'JSON'],
    ['{"id":1}', '/id'],
    ['{"id":"a","format":"openai-chat","operation":"juggle","input":[]}', '/operation'],
    ['{"id":"a","format":"openai-chat","operation":"parse"}', 'neither input nor input_lines'],
  ])('refuses %s', (text, part) => {
    expect(() => parseCaseFile('case.json', text)).toThrow(expect.objectContaining({ code: 'case-malformed' }))
    expect(() => parseCaseFile('case.json', text)).toThrow(part === 'JSON' ? /case\.json/ : part)
  })
})

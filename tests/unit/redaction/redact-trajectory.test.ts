import { describe, expect, it } from 'vitest'
import { redactJson } from '../../../src/redaction/redact-json.ts'
import { createRedactor } from '../../../src/redaction/redact-text.ts'
import { redactTrajectory } from '../../../src/redaction/redact-trajectory.ts'
import { fakeSecret } from '../../../src/redaction/rule.ts'
import { TRAJECTORY_SCHEMA_VERSION, type Trajectory } from '../../../src/trajectory/trajectory.ts'

const KEY = fakeSecret('ghp_', 36)
const source = { file: 'x.jsonl' }
const run: Trajectory = {
  schemaVersion: TRAJECTORY_SCHEMA_VERSION,
  id: 'x/1',
  group: 'x',
  domain: 'x',
  format: 'x',
  system: `Use ${KEY}.`,
  task: `Push with ${KEY}.`,
  interactions: [
    {
      index: 0,
      actor: null,
      reasoning: `I have ${KEY}.`,
      text: `Using ${KEY}.`,
      toolCalls: [{ id: 'c1', name: 'push', arguments: JSON.stringify({ token: KEY, n: 1 }) }],
      observations: [{ callId: 'c1', content: `pushed with ${KEY}`, isError: false }],
      source,
    },
  ],
  turns: [{ before: 1, kind: 'user', text: `Forget ${KEY}.`, source }],
  truncated: false,
  parent: null,
  source,
}

describe('a redacted run', () => {
  it('has the same mask in every text, and no secret anywhere', () => {
    const { trajectory, counts } = redactTrajectory(run)
    expect(JSON.stringify(trajectory)).not.toContain(KEY)
    expect(JSON.stringify(trajectory)).toBe(JSON.stringify(run).replaceAll(KEY, '[redacted:github-token:1]'))
    expect(counts).toEqual({ 'github-token': 7 })
  })

  it('is the run itself when it holds no secret', () => {
    const clean = redactTrajectory({ ...run, interactions: [], turns: [], system: '', task: 'hello' })
    expect(clean).toEqual({
      trajectory: { ...run, interactions: [], turns: [], system: '', task: 'hello' },
      counts: {},
    })
  })
})

describe('JSON arguments', () => {
  const redacted = (text: string): string => redactJson(text, createRedactor())

  it('stay JSON, and untouched parts stay byte for byte', () => {
    const pem = `-----BEGIN PRIVATE KEY-----\n${fakeSecret('', 64)}\n-----END PRIVATE KEY-----`
    const text = `{ "n": 12345678901234567890, "a":"\\u00e9", "pem": ${JSON.stringify(pem)} }`
    expect(redacted(text)).toBe('{ "n": 12345678901234567890, "a":"\\u00e9", "pem": "[redacted:private-key:1]" }')
  })

  it('lose a password that only its key gives away', () => {
    expect(redacted('{"user":"bo","password":"hX9!vkq2"}')).toBe('{"user":"bo","password":"[redacted:assignment:1]"}')
  })

  it('that are no JSON are masked as text', () => {
    expect(redacted(`curl -u ${KEY}`)).toBe('curl -u [redacted:github-token:1]')
  })
})

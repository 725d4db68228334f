/** Each provider has its list in a field of its own; requests and answers use that field. */
import { describe, expect, it } from 'vitest'
import { compactResponse, validateResponse } from '../../../server/wire/responses.schema.ts'
import type { NeutralTurn } from '../../../src/protocol/convert/neutral.ts'
import { FORMATS } from '../../../src/protocol/formats.ts'
import { HISTORY_FORMATS, type HistoryFormat } from '../../../src/protocol/history.ts'
import { JSON_HEADERS, serverUnderTest } from './server-under-test.ts'

async function post(path: string, body: unknown) {
  const app = await serverUnderTest()
  return app.inject({ method: 'POST', url: path, headers: JSON_HEADERS, payload: JSON.stringify(body) })
}

const TURNS: readonly NeutralTurn[] = [
  { kind: 'user', parts: [{ kind: 'text', text: 'Fix the build, please.' }] },
  ...Array.from({ length: 8 }, (_, step): readonly NeutralTurn[] => [
    { kind: 'assistant', parts: [], calls: [{ id: `call_${step}`, name: 'read', arguments: `{"step":${step}}` }] },
    {
      kind: 'results',
      results: [
        {
          id: `call_${step}`,
          name: 'read',
          parts: [{ kind: 'text', text: `file ${step}: ${'line of output '.repeat(60)}` }],
          isError: false,
        },
      ],
    },
  ]).flat(),
  { kind: 'user', parts: [{ kind: 'text', text: 'And now?' }] },
]

const CASES = HISTORY_FORMATS.flatMap((format) => FORMATS[format].listFields.map((field) => [format, field] as const))

describe('the list of a history', () => {
  it.each(CASES)('of %s comes in "%s" and goes back in it', async (format, field) => {
    const list = FORMATS[format].write(TURNS).messages
    const response = await post('/v1/compact', { format, [field]: list })
    const result = compactResponse.parse(response.json())
    expect(result.outcome).toBe('applied')
    const lists = CASES.map(([, name]) => name).filter((name) => name in result)
    expect([...new Set(lists)]).toEqual([field])
    const back = new Map(Object.entries(result)).get(field)
    expect(Array.isArray(back) ? back.length : 0).toBeLessThan(list.length)
    expect(response.body).toContain(`${JSON.stringify(list.at(-1))}]}`)
  })

  it.each(CASES)('of %s is pointed into as "%s"', async (format, field) => {
    const list = FORMATS[format].write(TURNS).messages.filter((_, number) => number !== 2)
    const { violations } = validateResponse.parse((await post('/v1/validate', { format, [field]: list })).json())
    expect(violations.some(({ pointer }) => pointer.startsWith(`/${field}/`))).toBe(true)
  })

  it.each<readonly [string, HistoryFormat, object, string]>([
    [
      'is in the field of another provider',
      'openai-responses',
      { messages: [{ role: 'user', content: 'a' }] },
      '/input',
    ],
    ['is missing', 'gemini-contents', {}, '/contents'],
    ['is there twice', 'openai-responses', { input: [{ role: 'user', content: 'a' }], output: [] }, '/input'],
    ['is empty', 'anthropic-messages', { messages: [] }, '/messages'],
    ['is no list', 'openai-chat', { messages: 'hi' }, '/messages'],
  ])('is asked for by name when it %s', async (_, format, body, pointer) => {
    const response = await post('/v1/score', { format, ...body })
    const { error } = response.json()
    expect([response.statusCode, error.code]).toEqual([400, 'request-invalid'])
    expect(error.message).toContain(`${pointer}: `)
  })

  it('may be the words of the user alone where the provider takes them', async () => {
    const { valid } = validateResponse.parse(
      (await post('/v1/validate', { format: 'openai-responses', input: 'hi' })).json(),
    )
    expect(valid).toBe(true)
  })

  it('is documented under the field of each provider', async () => {
    const app = await serverUnderTest()
    const api = (await app.inject({ url: '/openapi.json', headers: JSON_HEADERS })).json()
    const { requestBody, responses } = api.paths['/v1/compact'].post
    const asked = requestBody.content['application/json'].schema.properties
    const answered = responses['200'].content['application/json'].schema.properties
    for (const format of HISTORY_FORMATS) expect(asked).toHaveProperty(FORMATS[format].listFields[0])
    for (const [, field] of CASES) expect(answered).toHaveProperty(field)
  })
})

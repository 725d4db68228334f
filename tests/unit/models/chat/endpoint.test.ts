import { describe, expect, it } from 'vitest'
import { parseEndpoint } from '../../../../models/chat/endpoint.ts'

describe('an endpoint', () => {
  it('is a base URL or the whole address', () => {
    const whole = 'https://api.example.com/v1/chat/completions'
    for (const text of ['https://api.example.com/v1', 'https://api.example.com/v1/', whole])
      expect(parseEndpoint(text).url).toBe(whole)
  })

  it('keeps its query for the request and out of what is shown', () => {
    const endpoint = parseEndpoint('https://x.example/openai/v1?api-version=7&key=abc')
    expect(endpoint.url).toBe('https://x.example/openai/v1/chat/completions?api-version=7&key=abc')
    expect(endpoint.shown).toBe('https://x.example/openai/v1/chat/completions')
  })

  it('knows this machine, and where text would cross a network in the clear', () => {
    expect(parseEndpoint('http://localhost:8000/v1')).toMatchObject({ loopback: true, plainText: false })
    expect(parseEndpoint('http://127.0.0.1:1/v1')).toMatchObject({ loopback: true, plainText: false })
    expect(parseEndpoint('http://[::1]:1/v1')).toMatchObject({ loopback: true, plainText: false })
    expect(parseEndpoint('http://10.0.0.7/v1')).toMatchObject({ loopback: false, plainText: true })
    expect(parseEndpoint('https://127.example.com/v1')).toMatchObject({ loopback: false, plainText: false })
  })

  it.each(['nowhere', 'ftp://host/v1', 'https://user:secret@host/v1'])(
    'refuses %s without repeating a secret',
    (text) => {
      const attempt = (): unknown => parseEndpoint(text)
      expect(attempt).toThrow(expect.objectContaining({ code: 'option-invalid' }))
      expect(attempt).not.toThrow(/secret/)
    },
  )
})

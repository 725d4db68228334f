import { describe, expect, it } from 'vitest'
import { isLoopback, requireSafeListener } from '../../../server/guards.ts'
import { bodyOf, chatHistory, JSON_HEADERS, serverUnderTest } from './server-under-test.ts'

const TOKEN = 'correct horse'
const payload = bodyOf(chatHistory(2))

async function codeFor(headers: Readonly<Record<string, string>>, flags: Readonly<Record<string, unknown>> = {}) {
  const app = await serverUnderTest({ flags })
  const response = await app.inject({
    method: 'POST',
    url: '/v1/validate',
    headers: { ...JSON_HEADERS, ...headers },
    payload,
  })
  return [response.statusCode, response.statusCode === 200 ? 'ok' : response.json().error.code]
}

describe('guards', () => {
  it('let a local agent in without a token', async () => {
    expect(await codeFor({})).toEqual([200, 'ok'])
    expect(await codeFor({ host: '127.0.0.1:8088' })).toEqual([200, 'ok'])
    expect(await codeFor({ host: '[::1]:8088' })).toEqual([200, 'ok'])
  })

  it('refuse a foreign Host: a page whose name was rebound to 127.0.0.1', async () => {
    expect(await codeFor({ host: 'evil.test' })).toEqual([403, 'host-not-allowed'])
    expect(await codeFor({ host: 'box.lan' }, { allowedHosts: ['box.lan'] })).toEqual([200, 'ok'])
  })

  it('refuse pages of other origins', async () => {
    expect(await codeFor({ origin: 'https://evil.test' })).toEqual([403, 'origin-not-allowed'])
    expect(await codeFor({ origin: 'null' })).toEqual([403, 'origin-not-allowed'])
    expect(await codeFor({ origin: 'http://localhost:3000' })).toEqual([200, 'ok'])
  })

  it('refuse bodies that a page could send without a preflight', async () => {
    expect(await codeFor({ 'content-type': 'text/plain' })).toEqual([415, 'media-type-unsupported'])
    expect(await codeFor({ 'content-type': 'application/json; charset=utf-8' })).toEqual([200, 'ok'])
  })

  it('ask for the token when there is one, whatever the Host', async () => {
    expect(await codeFor({}, { token: TOKEN })).toEqual([401, 'unauthorized'])
    expect(await codeFor({ authorization: 'Bearer wrong' }, { token: TOKEN })).toEqual([401, 'unauthorized'])
    expect(await codeFor({ authorization: `Bearer ${TOKEN}`, host: 'box.lan' }, { token: TOKEN })).toEqual([200, 'ok'])
  })

  it('guard every route but the probes', async () => {
    const app = await serverUnderTest({ flags: { token: TOKEN } })
    for (const url of ['/info', '/metrics', '/openapi.json', '/nowhere']) {
      expect((await app.inject({ url, headers: { host: 'localhost' } })).statusCode, url).toBe(401)
    }
    for (const url of ['/livez', '/readyz']) {
      expect((await app.inject({ url, headers: { host: 'evil.test' } })).statusCode, url).toBe(200)
    }
  })

  it('refuse to listen beyond this machine without a token', () => {
    for (const host of ['0.0.0.0', '::', '192.168.1.4', 'box.lan']) {
      expect(() => requireSafeListener(host, null)).toThrow(/token/)
      expect(() => requireSafeListener(host, TOKEN)).not.toThrow()
    }
    expect(['127.0.0.1', '127.8.8.8', 'localhost', '::1'].map(isLoopback)).toEqual([true, true, true, true])
    expect(isLoopback('127.evil.test')).toBe(false)
  })
})

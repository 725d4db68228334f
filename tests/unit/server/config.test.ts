import { describe, expect, it } from 'vitest'
import { environmentName, flagName, parseServerConfig, publicConfig } from '../../../server/config.schema.ts'

const none = { flags: {}, environment: {}, file: {} }

describe('server configuration', () => {
  it('lets a flag win over the environment and the environment over the file', () => {
    const sources = {
      flags: { router: 'r', port: '3' },
      environment: { KEEPREADY_PORT: '2', KEEPREADY_DEADLINE_MS: '77' },
      file: { port: 1, deadlineMs: 5, maxQueueTokens: 9 },
    }
    expect(parseServerConfig(sources)).toMatchObject({ port: 3, deadlineMs: 77, maxQueueTokens: 9, host: '127.0.0.1' })
  })

  it('refuses unknown keys of the file by name', () => {
    expect(() => parseServerConfig({ ...none, file: { router: 'r', prot: 1 } })).toThrow(/prot/)
  })

  it('names the flag and the environment variable of a bad value', () => {
    const parse = () => parseServerConfig({ ...none, flags: { router: 'r', maxBodyBytes: '-1' } })
    expect(parse).toThrow(/--max-body-bytes \(KEEPREADY_MAX_BODY_BYTES\)/)
  })

  it('takes a prefix cache of no bytes, not of less', () => {
    const parse = (prefixCacheMb: string) => parseServerConfig({ ...none, flags: { router: 'r', prefixCacheMb } })
    expect(parse('0').prefixCacheMb).toBe(0)
    expect(() => parse('-1')).toThrow(/--prefix-cache-mb \(KEEPREADY_PREFIX_CACHE_MB\)/)
  })

  it('says that the router is missing', () => {
    expect(() => parseServerConfig(none)).toThrow(/--router \(KEEPREADY_ROUTER\)/)
  })

  it('never shows the token', () => {
    const config = parseServerConfig({ ...none, flags: { router: 'r', token: 'secret-value' } })
    expect(JSON.stringify(publicConfig(config))).not.toContain('secret-value')
    expect(publicConfig(config).token).toBe('set')
  })

  it('reads lists from comma-separated text', () => {
    const config = parseServerConfig({
      ...none,
      flags: { router: 'r' },
      environment: { KEEPREADY_ALLOWED_HOSTS: 'a.test,b.test' },
    })
    expect(config.allowedHosts).toEqual(['a.test', 'b.test'])
  })

  it('derives flag and environment names from the field', () => {
    expect([flagName('maxBodyBytes'), environmentName('maxBodyBytes')]).toEqual([
      '--max-body-bytes',
      'KEEPREADY_MAX_BODY_BYTES',
    ])
  })
})

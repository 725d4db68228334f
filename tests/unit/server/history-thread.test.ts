import { afterEach, describe, expect, it } from 'vitest'
import { packageFile } from '../../../models/package-root.ts'
import type { HistoryAnswer, HistoryCall } from '../../../server/answer-call.ts'
import { type HistoryThread, startHistoryThread } from '../../../server/history-thread/history-thread.ts'

const OPTIONS = {
  router: '/nowhere',
  model: null,
  operatingPoint: 'f1',
  maxQueueTokens: 1,
  prefixCacheMb: 0,
  device: 'cpu',
  weights: 'auto',
  memoryMb: null,
  caches: { hub: '/nowhere', keepready: '/nowhere' },
} as const
const FRAGILE = packageFile('tests', 'fixtures', 'fragile-thread.mjs')

let thread: HistoryThread | undefined
afterEach(() => thread?.close())

function ask(kind: HistoryCall['kind'], body = Buffer.from('{}')): Promise<HistoryAnswer> {
  if (thread === undefined) throw new Error('no thread')
  return thread.answer({ kind, body, signal: new AbortController().signal })
}

describe('a history thread', () => {
  it('that cannot open its router throws what opening threw', async () => {
    await expect(startHistoryThread(OPTIONS)).rejects.toMatchObject({ code: 'file-not-found' })
  })

  it('leaves the body with its caller', async () => {
    thread = await startHistoryThread(OPTIONS, { entry: FRAGILE })
    const body = Buffer.from('{"a":1}')
    const { body: echoed } = await ask('validate', body)
    expect([Buffer.from(echoed).toString(), body.toString()]).toEqual(['{"a":1}', '{"a":1}'])
  })

  it('that ends by itself fails the calls inside, says so, and is followed by another', async () => {
    thread = await startHistoryThread(OPTIONS, { entry: FRAGILE })
    const first = thread.status().modelProcess
    const [lost, alsoLost] = await Promise.allSettled([ask('score'), ask('compact')])
    expect([lost, alsoLost]).toMatchObject([
      { status: 'rejected', reason: { code: 'host-crashed' } },
      { status: 'rejected', reason: { code: 'host-crashed' } },
    ])
    expect(thread.status().ready).toBe(false)
    await ask('validate')
    expect(thread.status().ready).toBe(true)
    expect(thread.status().modelProcess).not.toBe(first)
  })

  it('that is closed leaves nothing running and serves no more', async () => {
    thread = await startHistoryThread(OPTIONS, { entry: FRAGILE })
    await thread.close()
    await expect(ask('validate')).rejects.toMatchObject({ code: 'host-crashed' })
  })
})

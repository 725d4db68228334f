import { describe, expect, it } from 'vitest'
import { createTokenQueue } from '../../../server/token-queue.ts'
import { AppError } from '../../../src/errors.ts'

const never = new AbortController().signal

/** A job that ends when told to. */
function heldJob(tokens: number, signal: AbortSignal = never) {
  let release = (): void => undefined
  let started = false
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  return {
    job: {
      tokens,
      signal,
      run: async () => {
        started = true
        await held
        return tokens
      },
    },
    release: () => release(),
    started: () => started,
  }
}

describe('token queue', () => {
  it('runs one job at a time in order of arrival', async () => {
    const queue = createTokenQueue({ maxTokens: 100 }, () => 0)
    const order: number[] = []
    const jobs = [1, 2, 3].map((n) =>
      queue.submit({
        tokens: 10,
        signal: never,
        run: async () => {
          order.push(n)
          await Promise.resolve()
          order.push(-n)
        },
      }),
    )
    await Promise.all(jobs)
    expect(order).toEqual([1, -1, 2, -2, 3, -3])
  })

  it('refuses what passes its budget and says when to retry', async () => {
    const queue = createTokenQueue({ maxTokens: 100 }, () => 0)
    const first = heldJob(80)
    const running = queue.submit(first.job)
    await expect(queue.submit(heldJob(30).job)).rejects.toMatchObject({
      code: 'queue-full',
      details: { retryAfterSeconds: 1 },
    })
    first.release()
    await running
    await expect(queue.submit({ tokens: 30, signal: never, run: async () => 'ok' })).resolves.toBe('ok')
  })

  it('lets a job above the budget through when nothing else waits', async () => {
    const queue = createTokenQueue({ maxTokens: 10 }, () => 0)
    await expect(queue.submit({ tokens: 1000, signal: never, run: async () => 'ok' })).resolves.toBe('ok')
  })

  it('rejects a waiting job at once when its client leaves, frees its tokens and never runs it', async () => {
    const queue = createTokenQueue({ maxTokens: 100 }, () => 0)
    const first = heldJob(40)
    const running = queue.submit(first.job)
    const client = new AbortController()
    const second = heldJob(60, client.signal)
    const waiting = queue.submit(second.job)
    await new Promise(setImmediate)
    expect(queue.status()).toEqual({ waiting: 1, tokens: 100 })
    client.abort(new AppError('interrupted', 'left'))
    await expect(waiting).rejects.toThrow('left')
    expect(queue.status()).toEqual({ waiting: 0, tokens: 40 })
    first.release()
    await running
    await queue.submit({ tokens: 1, signal: never, run: async () => undefined })
    expect(second.started()).toBe(false)
  })

  it('goes on after a job that failed', async () => {
    const queue = createTokenQueue({ maxTokens: 100 }, () => 0)
    const failing = queue.submit({ tokens: 1, signal: never, run: () => Promise.reject(new Error('broken')) })
    await expect(failing).rejects.toThrow('broken')
    await expect(queue.submit({ tokens: 1, signal: never, run: async () => 7 })).resolves.toBe(7)
    expect(queue.status()).toEqual({ waiting: 0, tokens: 0 })
  })

  it('counts a waiting job whose signal was already aborted as gone', async () => {
    const queue = createTokenQueue({ maxTokens: 100 }, () => 0)
    const gone = AbortSignal.abort(new AppError('interrupted', 'gone'))
    await expect(queue.submit(heldJob(5, gone).job)).rejects.toThrow('gone')
    await queue.submit({ tokens: 1, signal: never, run: async () => undefined })
    expect(queue.status().tokens).toBe(0)
  })
})

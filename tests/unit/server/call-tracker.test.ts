import { describe, expect, it } from 'vitest'
import type { HistoryAnswer, HistoryCall } from '../../../server/answer-call.ts'
import { createCallTracker } from '../../../server/call-tracker.ts'

const ANSWER: HistoryAnswer = { body: new Uint8Array(), stages: new Map(), outcome: null, noted: [] }

function call(): HistoryCall {
  return { kind: 'score', body: new Uint8Array(), signal: new AbortController().signal }
}

describe('a server that stops', () => {
  it('waits for the calls inside and refuses new ones', async () => {
    let end = (): void => undefined
    const calls = createCallTracker(() => new Promise((resolve) => (end = () => resolve(ANSWER))))
    const inside = calls.answer(call())
    let drained = false
    const drain = calls.drain(60_000).then(() => (drained = true))
    await expect(calls.answer(call())).rejects.toMatchObject({ code: 'server-draining' })
    expect([calls.draining, drained]).toEqual([true, false])
    end()
    await drain
    await expect(inside).resolves.toBe(ANSWER)
  })

  it('cancels what is still inside when its time is up', async () => {
    const calls = createCallTracker(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    const inside = calls.answer(call()).catch((error: unknown) => error)
    await calls.drain(5)
    expect(await inside).toMatchObject({ code: 'server-draining' })
  })

  it('passes on why its caller gave up', async () => {
    const client = new AbortController()
    const calls = createCallTracker(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    const inside = calls.answer({ ...call(), signal: client.signal })
    client.abort(new Error('left'))
    await expect(inside).rejects.toThrow('left')
  })
})

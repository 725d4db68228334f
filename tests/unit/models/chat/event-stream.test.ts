import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { readEventStream } from '../../../../models/chat/event-stream.ts'

async function* inChunks(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0
  for (let k = 0; at < bytes.length; k++) {
    const size = sizes[k % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

async function events(text: string, sizes: readonly number[] = [1]): Promise<readonly string[]> {
  const read: string[] = []
  for await (const data of readEventStream(inChunks(new TextEncoder().encode(text), sizes))) read.push(data)
  return read
}

describe('an event stream', () => {
  it('gives the data of each event and skips comments and other fields', async () => {
    expect(await events(': hi\n\ndata: one\n\nevent: x\nid: 3\ndata:two\ndata: lines\n\n')).toEqual([
      'one',
      'two\nlines',
    ])
  })

  it('gives a last event that no blank line ends', async () => {
    expect(await events('data: one\n\ndata: [DONE]')).toEqual(['one', '[DONE]'])
    expect(await events('data: one\r')).toEqual(['one'])
    expect(await events('')).toEqual([])
  })

  test.prop([
    fc.array(
      fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[\r\n]/.test(text)),
      { maxLength: 6 },
    ),
    fc.constantFrom('\n', '\r', '\r\n'),
    fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 }),
  ])('reads the same however it is cut into chunks, with each kind of line end', async (texts, lineEnd, sizes) => {
    const wire = texts.map((text) => `data: ${text}${lineEnd}${lineEnd}`).join('')
    expect(await events(wire, sizes)).toEqual(texts)
  })
})

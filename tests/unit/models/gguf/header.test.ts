import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fc, test } from '@fast-check/vitest'
import { afterAll, describe, expect, it } from 'vitest'
import { readGgufHeader } from '../../../../models/gguf/header.ts'
import { ggufFromBytes, openGgufFile } from '../../../../models/gguf/source.ts'
import { AppError } from '../../../../src/errors.ts'
import { type GgufParts, ggufBytes, type RawTensor } from '../../../fixtures/gguf-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-gguf-header-'))
afterAll(() => rmSync(folder, { recursive: true }))

const tensor = (name: string, change: Partial<RawTensor> = {}): RawTensor => ({
  name,
  type: 0,
  dims: [4, 2],
  bytes: new Uint8Array(32),
  ...change,
})
const PARTS: GgufParts = {
  metadata: {
    'general.architecture': { text: 'llama' },
    'llama.block_count': { u32: 1 },
    'llama.rope.freq_base': { f32: 1e4 },
    'tokenizer.ggml.tokens': { texts: ['a', 'b', 'ab'] },
    'tokenizer.ggml.token_type': { i32s: [1, 1, 3] },
    'tokenizer.ggml.add_bos_token': { bool: true },
  },
  tensors: [
    tensor('token_embd.weight'),
    tensor('blk.0.attn_q.weight', { type: 8, dims: [32], bytes: new Uint8Array(34) }),
  ],
}

const parse = (bytes: Uint8Array) => readGgufHeader(ggufFromBytes('model.gguf', bytes))
const withTensors = (...tensors: readonly RawTensor[]): Buffer => ggufBytes({ ...PARTS, tensors })
const code = (name: string, text: RegExp) =>
  expect.objectContaining({ code: name, message: expect.stringMatching(text) })

it('reads metadata, shapes outermost first, and absolute offsets', async () => {
  for (const alignment of [32, 64]) {
    const metadata = { ...PARTS.metadata, 'general.alignment': { u32: alignment } }
    const bytes = ggufBytes({ ...PARTS, metadata, alignment })
    const header = await parse(bytes)
    expect(header.metadata.get('llama.block_count')).toBe(1)
    expect(header.metadata.get('tokenizer.ggml.tokens')).toEqual(['a', 'b', 'ab'])
    const [first, second] = [header.tensors.get('token_embd.weight'), header.tensors.get('blk.0.attn_q.weight')]
    expect(first).toMatchObject({ shape: [2, 4], sizeBytes: 32 })
    expect(second).toMatchObject({ shape: [32], sizeBytes: 34 })
    expect((second?.offset ?? 0) - (first?.offset ?? 0)).toBe(alignment)
    expect((first?.offset ?? 1) % alignment).toBe(0)
  }
})

it('finds tensors beyond 4 GiB in a sparse file', async () => {
  const path = join(folder, 'large.gguf')
  const gib = 2 ** 30
  const large = [
    tensor('a', { type: 1, dims: [gib, 3], bytes: new Uint8Array(0) }),
    tensor('b', { offset: 6n * BigInt(gib), bytes: new Uint8Array(0) }),
  ]
  writeFileSync(path, withTensors(...large))
  const source = openGgufFile(path)
  await expect(readGgufHeader(source)).rejects.toThrow(code('gguf-invalid', /"a" ends at byte 64424\d+ but the file/))
  source.close()
  truncateSync(path, 7 * gib)
  const grown = openGgufFile(path)
  const { tensors } = await readGgufHeader(grown)
  grown.close()
  expect(tensors.get('a')?.sizeBytes).toBe(6 * gib)
  expect(tensors.get('b')?.offset).toBeGreaterThan(6 * gib)
})

describe('a hostile or damaged file', () => {
  it.each<[string, () => Uint8Array, string, RegExp]>([
    ['is empty', () => new Uint8Array(0), 'gguf-invalid', /0 bytes are no GGUF/],
    ['is something else', () => Buffer.from('PK and twenty more bytes.'), 'gguf-invalid', /letters GGUF/],
    ['is of version 1', () => ggufBytes({ ...PARTS, version: 1 }), 'gguf-unsupported', /version 1; 2 and 3/],
    ['is big-endian', () => ggufBytes({ ...PARTS, version: 0x03000000 }), 'gguf-unsupported', /big-endian/],
    ['has a tensor twice', () => withTensors(tensor('a'), tensor('a')), 'gguf-invalid', /"a" stands twice/],
    [
      'has overlapping tensors',
      () => withTensors(tensor('a', { dims: [16, 2], bytes: new Uint8Array(128) }), tensor('b', { offset: 32n })),
      'gguf-invalid',
      /"b" starts at byte \d+, inside "a"/,
    ],
    [
      'has an offset beyond its end',
      () => withTensors(tensor('a', { offset: 1n << 62n })),
      'gguf-invalid',
      /ends at byte 4611686018427\d+ but the file/,
    ],
    [
      'has an offset between two places',
      () => withTensors(tensor('a', { offset: 8n })),
      'gguf-invalid',
      /no multiple of the alignment 32/,
    ],
    [
      'has dimensions that overflow',
      () => withTensors(tensor('a', { dims: [1n << 32n, 1n << 32n, 1n << 32n] })),
      'gguf-invalid',
      /ends at byte \d{28,}/,
    ],
    [
      'has a dimension of -1',
      () => withTensors(tensor('a', { dims: [-1n, 2] })),
      'gguf-invalid',
      /18446744073709551615/,
    ],
    ['has a dimension of 0', () => withTensors(tensor('a', { dims: [4, 0] })), 'gguf-invalid', /dimensions \[4, 0\]/],
    ['has a tensor of no dimensions', () => withTensors(tensor('a', { dims: [] })), 'gguf-invalid', /dimensions \[\]/],
    [
      'has rows that are no whole blocks',
      () => withTensors(tensor('a', { type: 2, dims: [31, 2] })),
      'gguf-invalid',
      /multiple of 32 \(Q4_0\)/,
    ],
    [
      'has an encoding that is not read',
      () => withTensors(tensor('a', { type: 10 })),
      'gguf-unsupported',
      /stored as Q2_K; read are F32, F16, Q4_0/,
    ],
    [
      'has an encoding that does not exist',
      () => withTensors(tensor('a', { type: 4000 })),
      'gguf-unsupported',
      /type 4000/,
    ],
    [
      'has an alignment of 24',
      () => ggufBytes({ ...PARTS, metadata: { 'general.alignment': { u32: 24 } } }),
      'gguf-invalid',
      /alignment is 24/,
    ],
    [
      'announces a million million keys',
      () => patched(16, 1n << 40n),
      'gguf-invalid',
      /KV metadata count 1099511627776/,
    ],
    ['announces a million million tensors', () => patched(8, 1n << 40n), 'gguf-invalid', /Tensor count 1099511627776/],
    ['announces a name of 2^40 bytes', () => patched(24, 1n << 40n), 'gguf-invalid', /String length 1099511627776/],
  ])('that %s is refused', async (_, bytes, name, text) => {
    await expect(parse(bytes())).rejects.toThrow(code(name, text))
  })

  it('that is cut off is refused, wherever the cut is', async () => {
    const whole = ggufBytes(PARTS)
    for (let length = 0; length < whole.length - 30; length += 31)
      await expect(parse(whole.subarray(0, length)), `${length} bytes`).rejects.toThrow(
        expect.objectContaining({ code: 'gguf-invalid' }),
      )
  })

  it('that is no file or not there is refused', () => {
    expect(() => openGgufFile(join(folder, 'none.gguf'))).toThrow(code('file-not-found', /none\.gguf/))
    expect(() => openGgufFile(folder)).toThrow(code('file-unreadable', /is no file/))
  })

  /** A number somewhere in the header is replaced by one that tends to break readers, or a byte by any other. */
  test.prop(
    [
      fc.array(
        fc.tuple(
          fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
          fc.oneof(fc.bigInt(0n, 255n), fc.constantFrom(1n << 31n, 1n << 32n, (1n << 63n) - 1n, (1n << 64n) - 1n)),
        ),
        { minLength: 1, maxLength: 4 },
      ),
    ],
    { numRuns: 2000 },
  )('that was changed anywhere is read or refused by name, and holds no more than its bytes', async (changes) => {
    const bytes = Uint8Array.from(ggufBytes(PARTS))
    const view = new DataView(bytes.buffer)
    for (const [place, value] of changes) {
      const at = Math.floor(place * (bytes.length - 8))
      if (value < 256n) bytes[at] = Number(value)
      else view.setBigUint64(at, value, true)
    }
    const outcome = await parse(bytes).catch((thrown: unknown) => thrown)
    if (outcome instanceof AppError) expect(['gguf-invalid', 'gguf-unsupported']).toContain(outcome.code)
    else {
      const { tensors } = outcome as Awaited<ReturnType<typeof parse>>
      for (const { offset, sizeBytes } of tensors.values()) expect(offset + sizeBytes).toBeLessThanOrEqual(bytes.length)
    }
  })
})

function patched(at: number, value: bigint): Buffer {
  const bytes = ggufBytes(PARTS)
  bytes.writeBigUInt64LE(value, at)
  return bytes
}

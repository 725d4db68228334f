import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gguf } from '@huggingface/gguf'
import { afterAll, describe, expect, it } from 'vitest'
import { openCheckpoint } from '../../../../models/frozen-lm/checkpoint.ts'
import { interleaveHalves, writeDecoderGguf } from '../../../../models/gguf/write-decoder.ts'
import { writeGguf } from '../../../../models/gguf/write-gguf.ts'
import { embeddedModelDirectory } from '../../../../models/model-directory.ts'
import { readTensorF32 } from '../../../../models/safetensors.ts'
import { decodeF16, encodeF16 } from '../../../../src/tensor/half.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-gguf-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

const bytesOf = (values: Float32Array | Uint16Array): Uint8Array => new Uint8Array(values.buffer)

describe('writeGguf', () => {
  it('is read back by the hub library: metadata with its types, shapes, offsets and bytes', async () => {
    const path = join(folder, 'small.gguf')
    const norm = Float32Array.of(1, -2, 3)
    const matrix = encodeF16(Float32Array.of(1, 2, 3, 4, 5, 6))
    writeGguf(path, {
      metadata: new Map([
        ['general.architecture', { kind: 'text', value: 'llama' }],
        ['llama.block_count', { kind: 'u32', value: 7 }],
        ['llama.rope.freq_base', { kind: 'f32', value: 100_000 }],
        ['general.name', { kind: 'text', value: 'été' }],
        ['tokenizer.ggml.add_bos_token', { kind: 'bool', value: false }],
        ['tokenizer.ggml.tokens', { kind: 'texts', value: ['<0>', '', 'x y'] }],
      ]),
      tensors: [
        { name: 'norm', dtype: 'F32', shape: [3], read: () => bytesOf(norm) },
        { name: 'matrix', dtype: 'F16', shape: [2, 3], read: () => bytesOf(matrix) },
      ],
    })
    const { metadata, tensorInfos, tensorDataOffset } = await gguf(path, { allowLocalFile: true })
    expect(metadata).toMatchObject({
      version: 3,
      tensor_count: 2n,
      'general.architecture': 'llama',
      'llama.block_count': 7,
      'llama.rope.freq_base': 100_000,
      'general.name': 'été',
      'tokenizer.ggml.add_bos_token': false,
      'tokenizer.ggml.tokens': ['<0>', '', 'x y'],
    })
    expect(tensorInfos.map(({ name, shape, dtype }) => ({ name, shape, dtype }))).toEqual([
      { name: 'norm', shape: [3n], dtype: 0 },
      // GGUF counts dimensions from the innermost.
      { name: 'matrix', shape: [3n, 2n], dtype: 1 },
    ])
    const file = readFileSync(path)
    const at = Number(tensorDataOffset + (tensorInfos[1]?.offset ?? 0n))
    expect(at % 32).toBe(0)
    expect(decodeF16(new Uint16Array(new Uint8Array(file.subarray(at, at + 12)).buffer))).toEqual(
      Float32Array.of(1, 2, 3, 4, 5, 6),
    )
  })

  it('refuses bytes that do not fill the shape', () => {
    const write = (): void =>
      writeGguf(join(folder, 'wrong.gguf'), {
        metadata: new Map(),
        tensors: [{ name: 'x', dtype: 'F32', shape: [4], read: () => new Uint8Array(12) }],
      })
    expect(write).toThrow(/tensor x: 12 bytes, its shape needs 16/)
  })
})

describe('writeDecoderGguf', () => {
  it('writes the layers below the cut, matrices in F16 and norms in F32, with the same values', async () => {
    const path = join(folder, 'tiny.gguf')
    const checkpoint = openCheckpoint(embeddedModelDirectory())
    writeDecoderGguf(checkpoint, { layer: 2, path })
    const { metadata, tensorInfos, tensorDataOffset } = await gguf(path, { allowLocalFile: true })
    expect(metadata).toMatchObject({ 'llama.block_count': 2, 'llama.embedding_length': 192, 'llama.vocab_size': 6144 })
    const names = tensorInfos.map(({ name }) => name)
    expect(names).toHaveLength(2 + 2 * 9)
    expect(names).not.toContain('blk.2.attn_q.weight')
    const info = tensorInfos.find(({ name }) => name === 'blk.1.ffn_up.weight')
    const tensor = checkpoint.tensors.get('model.layers.1.mlp.up_proj.weight')
    if (info === undefined || tensor === undefined) throw new Error('both files hold the matrix')
    const at = Number(tensorDataOffset + info.offset)
    const bytes = new Uint8Array(readFileSync(path).subarray(at, at + 2 * 512 * 192))
    expect(decodeF16(new Uint16Array(bytes.buffer))).toEqual(readTensorF32(tensor.file, tensor))
  })

  it('puts the halves of a head beside each other, as llama.cpp rotates them', () => {
    // Two heads of four rows of one byte: rows 0 1 | 2 3 are the halves of the first.
    const rows = Uint8Array.of(0, 1, 2, 3, 10, 11, 12, 13)
    expect([...interleaveHalves(rows, { heads: 2, rows: 8 })]).toEqual([0, 2, 1, 3, 10, 12, 11, 13])
  })
})

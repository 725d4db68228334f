/** What loading a large checkpoint costs, in seconds and in memory of its own: F32 weights stay mapped from their file. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRng } from '../../src/rng.ts'
import { elementCount } from '../safetensors.ts'
import { streamSafetensors } from '../safetensors-stream.ts'
import { startOwnArm } from './bench-arm-process.ts'
import { SMOLLM2_SHAPE } from './bench-random-checkpoint.ts'
import type { LoadCost } from './bench-record.ts'
import { parseDecoderConfig } from './config.schema.ts'
import { decoderTensors } from './decoder-tensors.ts'

/** Random values, repeated: loading reads none of them. */
const CHUNK_FLOATS = 1 << 18
const WIDTH = 1024

export async function measureLoads(options: {
  readonly scratch: string
  readonly rounds: number
  /** Size of the checkpoint's tensors, about. */
  readonly bytes: number
  readonly signal: AbortSignal | undefined
  readonly step: (what: string, work: () => Promise<void>) => Promise<void>
}): Promise<readonly LoadCost[]> {
  const { scratch, rounds, bytes, signal, step } = options
  if (rounds === 0) return []
  const directory = join(scratch, 'large')
  const { checkpointBytes, layerCount } = writeLargeCheckpoint(directory, bytes)
  const loads: LoadCost[] = []
  for (let round = 1; round <= rounds; round++)
    await step(`load ${Math.round(checkpointBytes / 1e6)} MB`, async () => {
      const task = { kind: 'load' } as const
      const loaded = await startOwnArm({ directory, layer: layerCount, contextLength: null, task }, signal)
      // Layer 0 of the same file: the runtime and a session, and no weights but the embeddings of a few tokens.
      const empty = await startOwnArm({ directory, layer: 0, contextLength: null, task }, signal)
      await loaded.run()
      await empty.run()
      const [full, base] = [await loaded.memory(), await empty.memory()]
      await loaded.close()
      await empty.close()
      if (full === null || base === null) return
      loads.push({
        checkpointBytes,
        loadMs: loaded.opened.loadMs ?? Number.NaN,
        anonymousBytes: full.anonymousBytes,
        fileBytes: full.fileBytes,
        emptyAnonymousBytes: base.anonymousBytes,
      })
    })
  return loads
}

/** F32, in a shape of the Llama family, with as many layers as the size needs. */
function writeLargeCheckpoint(
  directory: string,
  bytes: number,
): { readonly checkpointBytes: number; readonly layerCount: number } {
  const shape = { ...SMOLLM2_SHAPE, hidden_size: WIDTH, intermediate_size: 4 * WIDTH, num_attention_heads: 16 }
  const configOf = (layers: number): Readonly<Record<string, unknown>> => ({
    ...shape,
    num_key_value_heads: 4,
    vocab_size: 8192,
    num_hidden_layers: layers,
    torch_dtype: 'float32',
  })
  const tensorsOf = (layers: number) =>
    [...decoderTensors(parseDecoderConfig(configOf(layers), directory))].map(({ name, shape: sizes }) => ({
      name,
      dtype: 'F32' as const,
      shape: sizes,
    }))
  const sizeOf = (layers: number): number =>
    tensorsOf(layers).reduce((sum, tensor) => sum + 4 * elementCount(tensor.shape), 0)
  const perLayer = sizeOf(2) - sizeOf(1)
  const layerCount = Math.max(1, Math.round((bytes - sizeOf(1)) / perLayer) + 1)

  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'config.json'), `${JSON.stringify(configOf(layerCount), null, 2)}\n`)
  const rng = createRng(1)
  const chunk = Float32Array.from({ length: CHUNK_FLOATS }, () => rng.nextNormal() * 0.02)
  const chunkBytes = new Uint8Array(chunk.buffer)
  const stream = streamSafetensors(join(directory, 'model.safetensors'), tensorsOf(layerCount), {})
  try {
    let left = sizeOf(layerCount)
    while (left > 0) {
      stream.write(chunkBytes.subarray(0, Math.min(left, chunkBytes.length)))
      left -= Math.min(left, chunkBytes.length)
    }
    stream.finish()
  } finally {
    stream.close()
  }
  return { checkpointBytes: sizeOf(layerCount), layerCount }
}

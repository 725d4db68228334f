/**
 * An ONNX model whose weights lie in a checkpoint's files -> a model of two files that every ONNX runtime can open from
 * disk: `model.onnx` and, beside it, `model.onnx_data` with the bytes of all weights that the model names.
 */
import { closeSync, fsyncSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { ModelProtoSchema } from 'onnx-buf'
import { AppError } from '../../src/errors.ts'
import { noRoomFor } from '../safetensors.ts'

const CHUNK_BYTES = 1 << 24
/** Page size: a mapped weight starts at the start of a page. */
const ALIGNMENT = 4096

/**
 * @param options.root folder that the model's external locations are relative to
 * @param options.path of the model file; the data file stands beside it with `_data` at its end
 * @throws disk-full, safetensors-truncated
 */
export function writeOnnxModel(encoded: Uint8Array, options: { readonly root: string; readonly path: string }): void {
  const { root, path } = options
  const model = fromBinary(ModelProtoSchema, encoded)
  const dataPath = `${path}_data`
  const data = openSync(dataPath, 'w')
  let end = 0
  try {
    for (const tensor of model.graph?.initializer ?? []) {
      if (tensor.externalData.length === 0) continue
      const entry = Object.fromEntries(tensor.externalData.map(({ key, value }) => [key, value]))
      const sizeBytes = Number(entry.length)
      copyBytes({ from: join(root, entry.location ?? ''), offset: Number(entry.offset), sizeBytes, to: data, at: end })
      for (const field of tensor.externalData) {
        if (field.key === 'location') field.value = basename(dataPath)
        if (field.key === 'offset') field.value = String(end)
      }
      end = Math.ceil((end + sizeBytes) / ALIGNMENT) * ALIGNMENT
    }
    fsyncSync(data)
    writeFileSync(path, toBinary(ModelProtoSchema, model))
  } catch (cause) {
    throw noRoomFor(dataPath, cause)
  } finally {
    closeSync(data)
  }
}

function copyBytes(piece: {
  readonly from: string
  readonly offset: number
  readonly sizeBytes: number
  readonly to: number
  readonly at: number
}): void {
  const source = openSync(piece.from, 'r')
  try {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, piece.sizeBytes))
    for (let done = 0; done < piece.sizeBytes; ) {
      const wanted = Math.min(chunk.length, piece.sizeBytes - done)
      const got = readSync(source, chunk, 0, wanted, piece.offset + done)
      if (got === 0)
        throw new AppError(
          'safetensors-truncated',
          `${piece.from} ends at byte ${piece.offset + done}: download it again`,
        )
      for (let put = 0; put < got; ) put += writeSync(piece.to, chunk, put, got - put, piece.at + done + put)
      done += got
    }
  } finally {
    closeSync(source)
  }
}

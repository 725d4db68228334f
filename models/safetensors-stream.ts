/**
 * A safetensors file written piece by piece: names, types and shapes are known first, the bytes follow in that order. For
 * checkpoints that do not fit into memory.
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { AppError } from '../src/errors.ts'
import { elementCount, encodeSafetensorsHeader, noRoomFor, SAFETENSORS_DTYPE_BYTES } from './safetensors.ts'

export interface PlannedTensor {
  readonly name: string
  readonly dtype: 'F32' | 'F16' | 'BF16'
  readonly shape: readonly number[]
}

export interface SafetensorsStream {
  /** The next bytes of the data, little-endian. */
  write(bytes: Uint8Array): void
  /**
   * Syncs and closes the file.
   * @throws invariant if fewer bytes were written than planned
   */
  finish(): void
  /** Lets go of the file, finished or not. */
  close(): void
}

/** @throws disk-full, invariant (a name stands twice) */
export function streamSafetensors(
  path: string,
  tensors: readonly PlannedTensor[],
  metadata: Readonly<Record<string, string>>,
): SafetensorsStream {
  const sized = tensors.map((tensor) => ({
    ...tensor,
    sizeBytes: elementCount(tensor.shape) * SAFETENSORS_DTYPE_BYTES[tensor.dtype],
  }))
  let left = sized.reduce((sum, tensor) => sum + tensor.sizeBytes, 0)
  const header = encodeSafetensorsHeader(sized, metadata)
  const file = openSync(path, 'w')
  let open = true
  const close = (): void => {
    if (open) closeSync(file)
    open = false
  }
  const put = (bytes: Uint8Array): void => {
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done)
    } catch (cause) {
      throw noRoomFor(path, cause)
    }
  }
  put(header)
  return {
    write(bytes) {
      left -= bytes.length
      if (left < 0) throw new AppError('invariant', `${path}: more bytes than its header plans`)
      put(bytes)
    },
    finish() {
      if (left !== 0) throw new AppError('invariant', `${path}: ${left} bytes fewer than its header plans`)
      fsyncSync(file)
      close()
    },
    close,
  }
}

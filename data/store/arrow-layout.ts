/**
 * Where the values of a list column stand in an Arrow IPC file, so that single rows can be read by position. Walks the
 * file's messages; reads their metadata and no value.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { Message } from 'apache-arrow'
import type { ColumnKinds } from './arrow-file.ts'

/** The values of one record batch. */
export interface ValueRun {
  readonly rows: number
  /** Absolute position of the first value, and bytes up to the end of the last. */
  readonly offset: number
  readonly sizeBytes: number
}

/** `ARROW1` and two bytes of padding. */
const MAGIC_BYTES = 8
const CONTINUATION = 0xffffffff
/** Continuation mark and length of the metadata. */
const PREFIX_BYTES = 8

/**
 * @param columns of the file, all of them in its order
 * @returns one entry per record batch, in order
 * @throws Error saying what is wrong with the file
 */
export function locateListValues(path: string, columns: ColumnKinds, column: string): readonly ValueRun[] {
  const buffer = valuesBufferOf(columns, column)
  const file = openSync(path, 'r')
  try {
    const end = fstatSync(file).size
    const runs: ValueRun[] = []
    let position = MAGIC_BYTES
    for (;;) {
      const prefix = readAt(file, position, PREFIX_BYTES)
      if (prefix.readUInt32LE(0) !== CONTINUATION) throw new Error(`byte ${position} starts no message`)
      const metadataBytes = prefix.readInt32LE(4)
      // A message of length 0 ends the stream; the footer follows.
      if (metadataBytes === 0) return runs
      const bodyStart = position + PREFIX_BYTES + metadataBytes
      if (metadataBytes < 0 || bodyStart > end) throw new Error(`the message at byte ${position} has no end`)
      const message = Message.decode(readAt(file, position + PREFIX_BYTES, metadataBytes))
      if (message.isRecordBatch()) {
        const header = message.header()
        const region = header.buffers[buffer]
        if (region === undefined) throw new Error(`a record batch has no values of column ${column}`)
        if (header.compression !== null) throw new Error('its record batches are compressed')
        const offset = bodyStart + region.offset
        if (region.offset < 0 || offset + region.length > end) throw new Error('its values end after the file')
        runs.push({ rows: header.length, offset, sizeBytes: region.length })
      }
      position = bodyStart + message.bodyLength
    }
  } finally {
    closeSync(file)
  }
}

/** Position of a list's values among the buffers of a batch: flat columns have 2, lists a validity buffer more. */
function valuesBufferOf(columns: ColumnKinds, column: string): number {
  let buffers = 0
  for (const [name, { kind }] of Object.entries(columns)) {
    buffers += kind === 'list' ? 3 : 2
    if (name === column) return buffers - 1
  }
  throw new Error(`there is no column ${column}`)
}

function readAt(file: number, position: number, sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(sizeBytes)
  if (readSync(file, bytes, 0, sizeBytes, position) !== sizeBytes) throw new Error(`it ends at byte ${position}`)
  return bytes
}

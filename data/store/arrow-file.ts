/**
 * Arrow IPC files, one uncompressed record batch at a time: memory holds one batch, equal content gives equal bytes.
 * Knows the container, not what the columns mean. Nothing here is nullable; -1 stands for "none" (DESIGN section 12).
 */
import { type FileHandle, open } from 'node:fs/promises'
import {
  AsyncByteQueue,
  type AsyncRecordBatchFileReader,
  type Data,
  type DataType,
  Dictionary,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Int32,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  RecordBatchReader,
  Schema,
  Struct,
  Uint8,
  Utf8,
  Vector,
} from 'apache-arrow'
import { AppError } from '../../src/errors.ts'

/** f16 values are their bits in a Uint16Array: Node 20 has no Float16Array. */
export type ColumnValues = Int32Array | Uint8Array | Uint16Array | Float32Array

/** `name` holds i32 indices into names that the file stores once (an Arrow dictionary). */
export type ColumnKind =
  | { readonly kind: 'i32' | 'u8' }
  | { readonly kind: 'name'; readonly names: readonly string[] }
  | { readonly kind: 'list'; readonly item: 'i32' | 'f16' | 'f32'; readonly length: number }

/** Name -> kind, in the order of the file. */
export type ColumnKinds = Readonly<Record<string, ColumnKind>>
/** Name -> values of one batch; a list column holds its lists one after another, (rows * length). */
export type ColumnBatch = Readonly<Record<string, ColumnValues>>

/**
 * Writes a file from batches.
 *   metadata  one JSON value under the schema's key `keepready`
 *   append    gets the file's bytes in order, and is awaited before the next batch is asked for
 */
export async function writeArrow(options: {
  readonly columns: ColumnKinds
  readonly metadata: unknown
  readonly batches: AsyncIterable<ColumnBatch> | Iterable<ColumnBatch>
  readonly append: (bytes: Uint8Array) => Promise<void>
}): Promise<void> {
  const schema = schemaOf(options.columns, options.metadata)
  const dictionaries = dictionariesOf(options.columns)
  const chunks = new ChunkList()
  const writer = new RecordBatchFileWriter()
  writer.reset(chunks, schema)
  const flush = async (): Promise<void> => {
    for (const chunk of chunks.take()) await options.append(chunk)
  }
  for await (const batch of options.batches) {
    writer.write(recordBatch({ schema, columns: options.columns, dictionaries, batch }))
    await flush()
  }
  writer.finish()
  await flush()
}

export interface ArrowFile {
  /** JSON value under the schema's key `keepready`. */
  readonly metadata: unknown
  readonly batchCount: number
  /** Views of one batch's own memory. Columns that are not asked for are not looked at. */
  readBatch(index: number): Promise<{ readonly rows: number; readonly columns: Readonly<Record<string, ColumnValues>> }>
  close(): Promise<void>
}

/**
 * Opens a file written by `writeArrow`.
 *   columns  what must be there, with exactly these kinds (the names of a `name` column may be others)
 * @throws dataset-invalid when it is no Arrow file or its columns are others
 */
export async function openArrow(path: string, columns: ColumnKinds): Promise<ArrowFile> {
  const handle = await open(path, 'r')
  try {
    const reader = await asDatasetError(path, () => openReader(handle))
    const metadata = await asDatasetError(path, async () => {
      checkColumns(reader.schema, columns)
      const text = reader.schema.metadata.get(METADATA_KEY)
      if (text === undefined) throw new Error(`it has no metadata under the key ${METADATA_KEY}`)
      return JSON.parse(text) as unknown
    })
    return {
      metadata,
      batchCount: reader.numRecordBatches,
      readBatch: (index) =>
        asDatasetError(path, async () => {
          const batch = await reader.readRecordBatch(index)
          if (batch === null) throw new Error(`it has no record batch ${index}`)
          return {
            rows: batch.numRows,
            columns: Object.fromEntries(
              Object.entries(columns).map(([name, column]) => [
                name,
                columnValues(batch.getChild(name)?.data[0], column, batch.numRows),
              ]),
            ),
          }
        }),
      close: () => handle.close(),
    }
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

const METADATA_KEY = 'keepready'

/** Where the writer puts its bytes; taken after each batch, so that nothing piles up. */
class ChunkList extends AsyncByteQueue {
  private chunks: Uint8Array[] = []

  override write(value: ArrayBufferView | Uint8Array): void {
    if (value.byteLength > 0) this.chunks.push(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
  }

  take(): readonly Uint8Array[] {
    const taken = this.chunks
    this.chunks = []
    return taken
  }
}

function dataType(column: ColumnKind, id = 0): DataType {
  switch (column.kind) {
    case 'i32':
      return new Int32()
    case 'u8':
      return new Uint8()
    case 'name':
      return new Dictionary(new Utf8(), new Int32(), id)
    case 'list':
      return new FixedSizeList(column.length, new Field('item', itemType(column.item), false))
  }
}

function itemType(item: 'i32' | 'f16' | 'f32'): Int32 | Float16 | Float32 {
  return item === 'i32' ? new Int32() : item === 'f16' ? new Float16() : new Float32()
}

/** Dictionary ids are column positions: the library's own come from a counter of the process. */
function schemaOf(columns: ColumnKinds, metadata: unknown): Schema {
  const fields = Object.entries(columns).map(([name, column], id) => new Field(name, dataType(column, id), false))
  return new Schema(fields, new Map([[METADATA_KEY, JSON.stringify(metadata)]]))
}

/** One vector per `name` column, the same object in every batch: then it is written once. */
function dictionariesOf(columns: ColumnKinds): ReadonlyMap<string, Vector<Utf8>> {
  return new Map(
    Object.entries(columns).flatMap(([name, column]) =>
      column.kind === 'name' ? [[name, new Vector([textData(column.names)])] as const] : [],
    ),
  )
}

function textData(values: readonly string[]): Data<Utf8> {
  const encoded = values.map((value) => Buffer.from(value, 'utf8'))
  const valueOffsets = new Int32Array(values.length + 1)
  encoded.forEach((bytes, i) => {
    valueOffsets[i + 1] = (valueOffsets[i] ?? 0) + bytes.length
  })
  return makeData({ type: new Utf8(), data: new Uint8Array(Buffer.concat(encoded)), valueOffsets })
}

function recordBatch(parts: {
  readonly schema: Schema
  readonly columns: ColumnKinds
  readonly dictionaries: ReadonlyMap<string, Vector<Utf8>>
  readonly batch: ColumnBatch
}): RecordBatch {
  const { schema, columns, dictionaries, batch } = parts
  const children = Object.entries(columns).map(([name, column], id) => {
    const data = columnData(dataType(column, id), batch[name], dictionaries.get(name))
    if (data === null) throw new AppError('invariant', `column ${name} (${column.kind}) got values of another type`)
    return data
  })
  const lengths = new Set(children.map((child) => child.length))
  const [length] = lengths
  if (length === undefined || lengths.size > 1)
    throw new AppError('invariant', `columns of one record batch differ in length: ${[...lengths].join(', ')}`)
  return new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length, nullCount: 0, children }))
}

/** Null when the values are not what the type holds. */
function columnData(type: DataType, data: ColumnValues | undefined, dictionary?: Vector<Utf8>): Data | null {
  if (type instanceof Dictionary && data instanceof Int32Array && dictionary !== undefined)
    return makeData({ type, data, dictionary })
  if (type instanceof Int32 && data instanceof Int32Array) return makeData({ type, data })
  if (type instanceof Uint8 && data instanceof Uint8Array) return makeData({ type, data })
  if (type instanceof Float16 && data instanceof Uint16Array) return makeData({ type, data })
  if (type instanceof Float32 && data instanceof Float32Array) return makeData({ type, data })
  if (!(type instanceof FixedSizeList)) return null
  const child = columnData(type.valueType, data)
  if (child === null || child.length % type.listSize !== 0) return null
  return makeData({ type, length: child.length / type.listSize, nullCount: 0, child })
}

async function openReader(handle: FileHandle): Promise<AsyncRecordBatchFileReader> {
  const reader = await RecordBatchReader.from(handle)
  await reader.open()
  if (!reader.isAsync() || !reader.isFile()) throw new Error('it is no Arrow file')
  return reader
}

function checkColumns(schema: Schema, columns: ColumnKinds): void {
  for (const [name, column] of Object.entries(columns)) {
    const found = schema.fields.find((field) => field.name === name)
    const wanted = String(dataType(column))
    if (found === undefined) throw new Error(`it has no column ${name}`)
    if (String(found.type) !== wanted) throw new Error(`its column ${name} is ${found.type} instead of ${wanted}`)
  }
}

/** A view of the column's values without the writer's padding. */
function columnValues(data: Data | undefined, column: ColumnKind, rows: number): ColumnValues {
  const source = column.kind === 'list' ? data?.children[0] : data
  const length = column.kind === 'list' ? rows * column.length : rows
  const start = source?.offset ?? 0
  const values: unknown = source?.values
  if (
    values instanceof Int32Array ||
    values instanceof Uint8Array ||
    values instanceof Uint16Array ||
    values instanceof Float32Array
  )
    if (values.length >= start + length) return values.subarray(start, start + length)
  throw new Error('a column is shorter than its record batch says')
}

/** Whatever the Arrow library throws on a damaged file, in our words. */
async function asDatasetError<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    throw new AppError(
      'dataset-invalid',
      `${path} is damaged: ${why}: make it again with \`keepready extract ... --fresh\``,
      { cause: thrown, details: { path } },
    )
  }
}

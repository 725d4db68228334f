/**
 * A GGUF model as one set of tensors: a single file, or the parts of a split one (`name-00001-of-00003.gguf`), whose first
 * holds the metadata.
 */
import { basename, dirname, join } from 'node:path'
import { AppError } from '../../src/errors.ts'
import { type GgufHeader, type GgufTensor, readGgufHeader } from './header.ts'
import { type GgufSource, openGgufFile } from './source.ts'

export interface GgufFiles extends GgufHeader {
  readonly paths: readonly string[]
  close(): void
}

const PART = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/
/** The largest split models in use have about 30 parts. */
const MAX_PARTS = 999

/** @throws file-not-found, file-unreadable, gguf-invalid, gguf-unsupported */
export async function openGguf(path: string): Promise<GgufFiles> {
  const sources: GgufSource[] = []
  const close = (): void => {
    for (const source of sources) source.close()
  }
  try {
    const paths = ggufParts(path)
    const tensors = new Map<string, GgufTensor>()
    let metadata: GgufHeader['metadata'] = new Map()
    for (const [part, file] of paths.entries()) {
      const source = openGgufFile(file)
      sources.push(source)
      const header = await readGgufHeader(source)
      if (part === 0) metadata = header.metadata
      for (const [name, tensor] of header.tensors) {
        if (tensors.has(name))
          throw new AppError('gguf-invalid', `${file}: tensor ${name} is in an earlier part as well`)
        tensors.set(name, tensor)
      }
    }
    const promised = metadata.get('split.tensors.count')
    if (promised !== undefined && Number(promised) !== tensors.size)
      throw new AppError(
        'gguf-invalid',
        `${path}: its parts hold ${tensors.size} tensors, ${promised} are promised: ${paths.length === 1 ? 'keep the name NAME-00001-of-0000N.gguf, by which the other parts are found' : 'get all parts of one release'}`,
      )
    return { metadata, tensors, paths, close }
  } catch (thrown) {
    close()
    throw thrown
  }
}

/** All parts in order, whichever of them was named. */
export function ggufParts(path: string): readonly string[] {
  const [, stem, , total] = basename(path).match(PART) ?? []
  if (stem === undefined || total === undefined) return [path]
  const count = Number(total)
  if (count < 1 || count > MAX_PARTS)
    throw new AppError('gguf-invalid', `${path}: a model of ${count} parts; the limit is ${MAX_PARTS}`)
  return Array.from({ length: count }, (_, i) =>
    join(dirname(path), `${stem}-${String(i + 1).padStart(5, '0')}-of-${total}.gguf`),
  )
}

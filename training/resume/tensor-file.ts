/**
 * Router parameters under prefixes in one safetensors file, written whole or not at all.
 */
import { nodeFiles, writeFileWhole } from '../../data/store/file-seam.ts'
import { buildParameters, tensorOf, tensorsOf } from '../../models/router/parameters.ts'
import type { RouterParameters, RouterSpec } from '../../models/router/spec.ts'
import { encodeSafetensorsHeader, readSafetensorsHeader, readTensorF32 } from '../../models/safetensors.ts'
import { invariant } from '../../src/errors.ts'

/** Prefix -> parameters. @throws disk-full, file-unreadable */
export async function writeTensors(
  path: string,
  spec: RouterSpec,
  groups: Readonly<Record<string, RouterParameters>>,
): Promise<void> {
  const tensors = Object.entries(groups).flatMap(([prefix, parameters]) =>
    tensorsOf(spec).map(({ name, shape }) => ({ name: `${prefix}.${name}`, shape, data: tensorOf(parameters, name) })),
  )
  const header = encodeSafetensorsHeader(
    tensors.map(({ name, shape, data }) => ({ name, shape, dtype: 'F32', sizeBytes: data.byteLength })),
    {},
  )
  await writeFileWhole(nodeFiles, path, async (append) => {
    await append(header)
    for (const { data } of tensors) await append(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
  })
}

/** @throws safetensors-missing and its kin, invariant when the file holds other tensors */
export function readTensors(path: string, spec: RouterSpec, prefix: string): RouterParameters {
  const { tensors } = readSafetensorsHeader(path)
  return buildParameters(spec, ({ name }) =>
    readTensorF32(path, invariant(tensors.get(`${prefix}.${name}`), `${path} holds ${prefix}.${name}`)),
  )
}

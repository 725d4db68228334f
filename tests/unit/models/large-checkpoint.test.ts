import { closeSync, copyFileSync, ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { loadFrozenLm } from '../../../models/frozen-lm/load-frozen-lm.ts'
import { packageFile } from '../../../models/package-root.ts'
import { encodeSafetensorsHeader, readSafetensorsHeader } from '../../../models/safetensors.ts'

const TINY = packageFile('models', 'tiny')
const folder = mkdtempSync(join(tmpdir(), 'keepready-large-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function hidden(directory: string): Promise<readonly number[]> {
  const lm = await loadFrozenLm({ directory, layer: 'default' })
  const tokens = Int32Array.from({ length: 70 }, (_, i) => (i * 37) % 6000)
  const result = await lm.prefill(tokens, { past: null, rows: 'last', keepState: false })
  await lm.close()
  return [...result.hidden.data]
}

it('weights that lie behind 5 GiB of other tensors are read where they are', async () => {
  const source = join(TINY, 'model.safetensors')
  const tensors = [...readSafetensorsHeader(source).tensors].sort(([, a], [, b]) => a.offset - b.offset)
  const vision = {
    name: 'visual.patch_embed.weight',
    dtype: 'BF16',
    shape: [5 * 2 ** 19, 1024],
    sizeBytes: 5 * 2 ** 30,
  } as const
  const header = encodeSafetensorsHeader([vision, ...tensors.map(([name, info]) => ({ name, ...info }))], {})
  const data = readFileSync(source).subarray(tensors[0]?.[1].offset)
  const file = openSync(join(folder, 'model.safetensors'), 'w')
  // Sparse: the 5 GiB are never written.
  ftruncateSync(file, header.length + vision.sizeBytes + data.length)
  writeSync(file, header, 0, header.length, 0)
  writeSync(file, data, 0, data.length, header.length + vision.sizeBytes)
  closeSync(file)
  for (const name of ['config.json', 'tokenizer.json']) copyFileSync(join(TINY, name), join(folder, name))
  expect(await hidden(folder)).toEqual(await hidden(TINY))
})

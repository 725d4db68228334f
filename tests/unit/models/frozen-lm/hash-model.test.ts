import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { hashModelFiles } from '../../../../models/frozen-lm/hash-model.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-hash-'))
afterAll(() => rmSync(folder, { recursive: true }))

const sha = (text: string): string => createHash('sha256').update(text).digest('hex')

function modelWith(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(folder, 'model-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  return directory
}

const FILES = { 'config.json': 'c', 'tokenizer.json': 't', 'model.safetensors': 'one' }
const INDEX = JSON.stringify({
  weight_map: { a: 'part-1.safetensors', b: 'part-2.safetensors', c: 'part-1.safetensors' },
})

describe('hashModelFiles', () => {
  it('is the SHA-256 over names and file digests in name order', () => {
    const lines = Object.entries(FILES)
      .sort()
      .map(([name, text]) => `${name}\0${sha(text)}\n`)
    expect(hashModelFiles(modelWith(FILES))).toBe(sha(lines.join('')))
  })

  it('ignores files that do not decide a vector, and the directory name', () => {
    expect(
      hashModelFiles(
        modelWith({ ...FILES, 'README.md': 'x', 'generation_config.json': '{}', 'golden.safetensors': 'g' }),
      ),
    ).toBe(hashModelFiles(modelWith(FILES)))
  })

  it.each([...Object.keys(FILES), 'tokenizer_config.json'])('changes with %s', (name) => {
    expect(hashModelFiles(modelWith({ ...FILES, [name]: 'changed' }))).not.toBe(hashModelFiles(modelWith(FILES)))
  })

  it('counts every shard that the index names', () => {
    const { 'model.safetensors': _single, ...texts } = FILES
    const shards = {
      ...texts,
      'model.safetensors.index.json': INDEX,
      'part-1.safetensors': '1',
      'part-2.safetensors': '2',
    }
    const whole = hashModelFiles(modelWith(shards))
    expect(hashModelFiles(modelWith({ ...shards, 'part-2.safetensors': 'changed' }))).not.toBe(whole)
    expect(hashModelFiles(modelWith({ ...shards, 'part-3.safetensors': 'stray' }))).toBe(whole)
  })

  it('names missing weights', () => {
    expect(() => hashModelFiles(modelWith({ 'config.json': 'c' }))).toThrow(
      expect.objectContaining({ code: 'safetensors-missing' }),
    )
  })

  it('sees a file that changed under the same name and size', () => {
    const directory = modelWith(FILES)
    const before = hashModelFiles(directory)
    writeFileSync(join(directory, 'config.json'), 'C')
    utimesSync(join(directory, 'config.json'), 1, 2)
    expect(hashModelFiles(directory)).not.toBe(before)
  })

  it('does not follow links out of the model', () => {
    const directory = modelWith({ 'config.json': 'c', 'model.safetensors': 'one' })
    writeFileSync(join(folder, 'secret'), 's')
    symlinkSync(join(folder, 'secret'), join(directory, 'tokenizer.json'))
    expect(() => hashModelFiles(directory)).toThrow(expect.objectContaining({ code: 'model-link-escapes' }))
  })
})

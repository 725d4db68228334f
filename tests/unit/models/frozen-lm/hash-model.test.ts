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

const FILES = { 'config.json': 'c', 'tokenizer.json': 't', 'model-1.safetensors': 'one', 'model-2.safetensors': 'two' }

describe('hashModelFiles', () => {
  it('is the SHA-256 over names and file digests in name order', () => {
    const lines = Object.entries(FILES)
      .sort()
      .map(([name, text]) => `${name}\0${sha(text)}\n`)
    expect(hashModelFiles(modelWith(FILES))).toBe(sha(lines.join('')))
  })

  it('ignores files that do not decide a vector, and the directory name', () => {
    expect(hashModelFiles(modelWith({ ...FILES, 'README.md': 'x', 'generation_config.json': '{}' }))).toBe(
      hashModelFiles(modelWith(FILES)),
    )
  })

  it.each([...Object.keys(FILES), 'tokenizer_config.json'])('changes with %s', (name) => {
    expect(hashModelFiles(modelWith({ ...FILES, [name]: 'changed' }))).not.toBe(hashModelFiles(modelWith(FILES)))
  })

  it('sees a file that changed under the same name and size', () => {
    const directory = modelWith(FILES)
    const before = hashModelFiles(directory)
    writeFileSync(join(directory, 'config.json'), 'C')
    utimesSync(join(directory, 'config.json'), 1, 2)
    expect(hashModelFiles(directory)).not.toBe(before)
  })

  it('does not follow links out of the model', () => {
    const directory = modelWith({ 'config.json': 'c' })
    writeFileSync(join(folder, 'secret'), 's')
    symlinkSync(join(folder, 'secret'), join(directory, 'tokenizer.json'))
    expect(() => hashModelFiles(directory)).toThrow(expect.objectContaining({ code: 'model-link-escapes' }))
  })
})

import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cacheFolders } from '../../../models/cache-folders.ts'
import { openCheckpoint } from '../../../models/frozen-lm/checkpoint.ts'
import { listSnapshots, repositoryFolder } from '../../../models/hub/hub-cache.ts'
import { readHubToken } from '../../../models/hub/token.ts'
import { resolveModelFile } from '../../../models/model-files.ts'
import { packageFile } from '../../../models/package-root.ts'
import { resolveModel } from '../../../models/resolve-model.ts'
import { ggufOfCheckpoint, tokenizerMetadata, writeGguf } from '../../fixtures/gguf-file.ts'

const TINY = packageFile('models', 'tiny')
const folder = mkdtempSync(join(tmpdir(), 'keepready-resolve-'))
afterAll(() => rmSync(folder, { recursive: true }))
const caches = { hub: join(folder, 'hub'), keepready: join(folder, 'keepready') }

const code = (name: string, text: RegExp) =>
  expect.objectContaining({ code: name, message: expect.stringMatching(text) })

describe('what a person types after --model', () => {
  it('is the embedded model, or a directory', async () => {
    expect(await resolveModel('tiny', caches)).toBe(TINY)
    expect(await resolveModel(TINY, caches)).toBe(TINY)
  })

  it('is a model of the hub cache, at main or another revision', async () => {
    const repository = repositoryFolder(caches.hub, 'someone/model')
    for (const [revision, digit] of [
      ['main', 'a'],
      ['refs/pr/1', 'b'],
    ] as const) {
      const commit = digit.repeat(40)
      mkdirSync(join(repository, 'snapshots', commit), { recursive: true })
      mkdirSync(join(repository, 'refs', revision, '..'), { recursive: true })
      writeFileSync(join(repository, 'refs', revision), `${commit}\n`)
    }
    const at = (digit: string): string => join(repository, 'snapshots', digit.repeat(40))
    expect(await resolveModel('someone/model', caches)).toBe(at('a'))
    expect(await resolveModel('someone/model@refs/pr/1', caches)).toBe(at('b'))
    expect(await resolveModel(`someone/model@${'b'.repeat(40)}`, caches)).toBe(at('b'))
    expect(listSnapshots(caches.hub).map(({ model, revisions }) => [model, revisions])).toEqual([
      ['someone/model', ['main']],
      ['someone/model', ['refs/pr/1']],
    ])
    await expect(resolveModel('someone/model@v2', caches)).rejects.toThrow(
      code('model-not-found', /only at main, refs\/pr\/1, not at v2: pull it once with .*--revision v2/),
    )
    await expect(resolveModel('someone/other', caches)).rejects.toThrow(code('model-not-found', /no someone\/other/))
    await expect(resolveModel('./someone/other', caches)).rejects.toThrow(code('model-not-found', /does not exist/))
  })

  it('is a GGUF file, converted once and again when the file changes', async () => {
    const file = join(folder, 'tiny.gguf')
    const tokenizer = tokenizerMetadata(join(TINY, 'tokenizer.json'), 'smollm')
    writeGguf(file, ggufOfCheckpoint(TINY, { architecture: 'llama', type: 'F16', tokenizer }))
    let conversions = 0
    const options = { ...caches, onProgress: () => (conversions += 1) }
    const first = await resolveModel(file, options)
    expect(openCheckpoint(first).config).toEqual(openCheckpoint(TINY).config)
    const once = conversions
    expect(once).toBeGreaterThan(0)
    expect(await resolveModel(file, options)).toBe(first)
    expect(conversions).toBe(once)
    utimesSync(file, 1, 1)
    expect(await resolveModel(file, options)).not.toBe(first)
    expect(readdirSync(join(caches.keepready, 'gguf')).length).toBe(2)
  })
})

describe('where models are kept', () => {
  const home = cacheFolders({})

  it('is where the tools of the hub keep them, by the same variables', () => {
    expect(home.hub).toMatch(/\/\.cache\/huggingface\/hub$/)
    expect(home.keepready).toMatch(/\/\.cache\/keepready$/)
    expect(cacheFolders({ XDG_CACHE_HOME: '/x' }).hub).toBe('/x/huggingface/hub')
    expect(cacheFolders({ XDG_CACHE_HOME: '/x', HF_HOME: '/h' })).toEqual({
      hub: '/h/hub',
      keepready: '/x/keepready',
      tokenFile: '/h/token',
    })
    expect(cacheFolders({ HF_HOME: '/h', HUGGINGFACE_HUB_CACHE: '/old' }).hub).toBe('/old')
    expect(cacheFolders({ HUGGINGFACE_HUB_CACHE: '/old', HF_HUB_CACHE: '/c', HF_HOME: '' }).hub).toBe('/c')
  })

  it('does not say what the token is, if it is none', () => {
    const file = join(folder, 'token')
    expect(readHubToken({}, file)).toBe(null)
    writeFileSync(file, 'hf_file\n')
    expect(readHubToken({}, file)).toBe('hf_file')
    expect(readHubToken({ HF_TOKEN: 'hf_named' }, file)).toBe('hf_named')
    writeFileSync(file, 'two words')
    expect(() => readHubToken({}, file)).toThrow(
      expect.objectContaining({ code: 'option-invalid', message: expect.not.stringContaining('two words') }),
    )
    expect(() => readHubToken({}, folder)).toThrow(code('file-unreadable', /--no-token/))
  })
})

describe('the files of a model directory', () => {
  it('have plain names, whatever an index says', () => {
    for (const name of [
      '../config.json',
      '/etc/passwd',
      'sub/model.safetensors',
      'a\\b',
      '',
      '..',
      'a\0b',
      'x'.repeat(300),
    ])
      expect(() => resolveModelFile(TINY, name)).toThrow(code('model-link-escapes', /no plain file name/))
  })

  it('are read only if they are of a size to be read whole', () => {
    const directory = join(folder, 'large')
    cpSync(TINY, directory, { recursive: true })
    rmSync(join(directory, 'config.json'))
    writeFileSync(join(directory, 'config.json'), Buffer.alloc(128_000_001, 0x20))
    expect(() => openCheckpoint(directory)).toThrow(code('config-invalid', /128000001 bytes long, the limit/))
  })

  it('may be links into the blobs of their repository, and nowhere else', () => {
    const snapshot = join(folder, 'hub', 'models--a--b', 'snapshots', 'c'.repeat(40))
    const blobs = join(folder, 'hub', 'models--a--b', 'blobs')
    mkdirSync(snapshot, { recursive: true })
    mkdirSync(blobs)
    cpSync(join(TINY, 'config.json'), join(blobs, 'one'))
    symlinkSync('../../blobs/one', join(snapshot, 'config.json'))
    symlinkSync(join(TINY, 'model.safetensors'), join(snapshot, 'model.safetensors'))
    expect(resolveModelFile(snapshot, 'config.json')).toMatch(/blobs\/one$/)
    expect(() => resolveModelFile(snapshot, 'model.safetensors')).toThrow(code('model-link-escapes', /outside of/))
  })
})

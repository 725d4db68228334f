import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openCheckpoint } from '../../../../models/frozen-lm/checkpoint.ts'
import { createHttpHub } from '../../../../models/hub/http-hub.ts'
import { blobPath, findSnapshot, listSnapshots } from '../../../../models/hub/hub-cache.ts'
import { type PullOptions, type PullPlan, pullModel } from '../../../../models/hub/pull-model.ts'
import { packageFile } from '../../../../models/package-root.ts'
import { createRng } from '../../../../src/rng.ts'
import {
  COMMIT,
  cutAfter,
  type FileBehaviour,
  type FileRequest,
  type HubRepository,
  type HubServer,
  ignoreRange,
  send,
  serve,
  stallAfter,
  startHubServer,
  status,
  wrongRange,
} from '../../../fixtures/hub-server.ts'

const MODEL = 'someone/small-model'
const WEIGHTS = 'model.safetensors'
const file = (text: string, large = false) => ({ bytes: Buffer.from(text), large })
const tiny = (name: string, large = false) => ({ bytes: readFileSync(packageFile('models', 'tiny', name)), large })

/** Text weights: what a pull does, it does without looking inside. */
const FILES = {
  'README.md': file('not needed'),
  'config.json': file('{"a": 1}'),
  'model.safetensors': file('weights '.repeat(50_000), true),
  'onnx/model.onnx': file('not needed', true),
  'pytorch_model.bin': file('the same weights again', true),
  'tokenizer.json': file('{}', true),
}

let folder: string
let server: HubServer
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keepready-hub-'))
})
afterEach(async () => {
  await server?.close()
  rmSync(folder, { recursive: true })
})

async function start(script?: (request: FileRequest) => FileBehaviour, repository: HubRepository = { files: FILES }) {
  server = await startHubServer({ [MODEL]: repository }, script)
}

/** Waits are noted, not waited for. */
function pull(options: Partial<PullOptions> & { readonly token?: string } = {}) {
  const waits: number[] = []
  const plans: PullPlan[] = []
  const result = pullModel({
    hub: createHttpHub({ endpoint: server.url, token: options.token ?? null, userAgent: 'test' }),
    hubCache: folder,
    model: MODEL,
    revision: 'main',
    include: [],
    maxBytes: 1e9,
    clock: {
      nowMs: () => 0,
      sleep: async (ms) => {
        waits.push(ms)
      },
    },
    rng: createRng(1),
    stallMs: 2_000,
    signal: new AbortController().signal,
    onWait: () => undefined,
    onPlan: (plan) => plans.push(plan),
    onBytes: () => undefined,
    ...options,
  })
  return { result, waits, plans }
}

const weightsBlob = (): string => {
  const blobs = readdirSync(join(folder, 'models--someone--small-model', 'blobs'))
  return join(folder, 'models--someone--small-model', 'blobs', blobs.find((name) => name.includes('incomplete')) ?? '')
}
const code = (name: string, text: RegExp) =>
  expect.objectContaining({ code: name, message: expect.stringMatching(text) })

describe('a pull', () => {
  it('fetches config, tokenizer and weights into the layout of the hub cache', async () => {
    await start()
    const { result, plans } = pull()
    const { directory, files, downloadedBytes } = await result
    expect([...files].sort()).toEqual(['config.json', WEIGHTS, 'tokenizer.json'])
    expect(directory).toBe(join(folder, 'models--someone--small-model', 'snapshots', COMMIT))
    expect(readFileSync(join(folder, 'models--someone--small-model', 'refs', 'main'), 'utf8')).toBe(COMMIT)
    // Git's own name of the content, by `printf '{"a": 1}' | git hash-object --stdin`.
    const link = readlinkSync(join(directory, 'config.json'))
    expect(link).toBe('../../blobs/4a036f56bb619924ec4189bd84ed716c766971ae')
    expect(readlinkSync(join(directory, WEIGHTS))).toMatch(/^\.\.\/\.\.\/blobs\/[0-9a-f]{64}$/)
    expect(readFileSync(join(directory, WEIGHTS)).equals(FILES[WEIGHTS].bytes)).toBe(true)
    expect(downloadedBytes).toBe(400_010)
    expect(plans).toMatchObject([{ totalBytes: 400_010, presentBytes: 0, commit: COMMIT }])
    expect(findSnapshot(folder, MODEL, 'main')).toBe(directory)
    expect(listSnapshots(folder)).toEqual([{ model: MODEL, commit: COMMIT, revisions: ['main'], directory }])
  })

  it('fetches nothing that is there, and names a second revision of it', async () => {
    await start()
    await pull().result
    const before = server.downloads.length
    const { downloadedBytes } = await pull({ revision: 'v1' }).result
    expect(downloadedBytes).toBe(0)
    expect(server.downloads.length).toBe(before)
    expect(listSnapshots(folder)[0]?.revisions).toEqual(['main', 'v1'])
  })

  it('gives a checkpoint that opens through its links', async () => {
    const files = {
      'config.json': tiny('config.json'),
      'tokenizer.json': tiny('tokenizer.json', true),
      'model.safetensors': tiny(WEIGHTS, true),
    }
    await start(undefined, { files })
    const { directory } = await pull().result
    expect(lstatSync(join(directory, WEIGHTS)).isSymbolicLink()).toBe(true)
    const { root, config } = openCheckpoint(directory)
    expect(root).toBe(join(folder, 'models--someone--small-model'))
    expect(config.layerCount).toBe(6)
  })

  it('takes shards with their index, and one set of weights only', async () => {
    const names = [
      'model-00001-of-00002.safetensors',
      'model-00002-of-00002.safetensors',
      'model.safetensors.index.json',
    ]
    const files = Object.fromEntries(
      ['config.json', 'consolidated.safetensors', 'model.fp16.safetensors', ...names].map((name) => [name, file(name)]),
    )
    await start(undefined, { files })
    expect((await pull().result).files).toEqual(['config.json', ...names])
  })

  it('takes what patterns name instead, and says what there is where nothing fits', async () => {
    const files = { 'q/small.Q4_0.gguf': file('x', true), 'large.Q8_0.gguf': file('y', true), 'README.md': file('z') }
    await start(undefined, { files })
    await expect(pull().result).rejects.toThrow(
      code('model-not-found', /no model\.safetensors.*large\.Q8_0\.gguf.*--include/),
    )
    await expect(pull({ include: ['*.bin'] }).result).rejects.toThrow(code('model-not-found', /--include \*\.bin/))
    const { directory, files: got } = await pull({ include: ['*Q4_?.gguf'] }).result
    expect(got).toEqual(['q/small.Q4_0.gguf'])
    expect(readFileSync(join(directory, 'q', 'small.Q4_0.gguf'), 'utf8')).toBe('x')
  })
})

describe('a connection that breaks', () => {
  const weights = (behave: (request: FileRequest) => FileBehaviour) => (request: FileRequest) =>
    request.path === WEIGHTS ? behave(request) : serve

  it('is opened again where it broke, as often as it brings something', async () => {
    await start(weights(({ attempt }) => (attempt < 12 ? cutAfter(20_000) : serve)))
    const { result, waits } = pull()
    const { directory } = await result
    expect(readFileSync(join(directory, WEIGHTS)).equals(FILES[WEIGHTS].bytes)).toBe(true)
    const starts = server.downloads.filter(({ path }) => path === WEIGHTS).map(({ start: at }) => at)
    expect(starts).toEqual([...starts].sort((a, b) => a - b))
    expect(starts.at(-1)).toBeGreaterThan(100_000)
    expect(waits.length).toBe(12)
  })

  it('is given up after six attempts that bring nothing, and what came before is used by the next pull', async () => {
    let healthy = false
    await start(weights(({ attempt }) => (healthy ? serve : attempt === 0 ? cutAfter(50_000) : status(503))))
    const { result, waits } = pull()
    await expect(result).rejects.toThrow(
      code('endpoint-unreachable', /model\.safetensors: .*503.*; 50000 of 400000 bytes are there and kept/),
    )
    expect(waits.length).toBe(6)
    expect(readdirSync(join(folder, 'models--someone--small-model')).sort()).toEqual(['blobs', 'snapshots'])
    healthy = true
    expect((await pull().result).downloadedBytes).toBe(350_000)
    expect(server.downloads.at(-1)).toMatchObject({ path: WEIGHTS, start: 50_000 })
  })

  it('that only stands still is opened again', async () => {
    await start(weights(({ attempt }) => (attempt === 0 ? stallAfter(1000) : serve)))
    await pull({ stallMs: 300 }).result
    expect(server.downloads.filter(({ path }) => path === WEIGHTS).map(({ start: at }) => at)).toEqual([0, 1000])
  })

  it('to a server without ranges brings all of it again, and the file is still right', async () => {
    await start(weights(({ attempt }) => (attempt === 0 ? cutAfter(1000) : ignoreRange)))
    const { directory } = await pull().result
    expect(readFileSync(join(directory, WEIGHTS)).equals(FILES[WEIGHTS].bytes)).toBe(true)
  })

  it('is closed by Ctrl-C, and what came is kept', async () => {
    const stop = new AbortController()
    await start(weights(() => stallAfter(30_000)))
    const onBytes = (bytes: number): void => {
      if (bytes > 30_000) stop.abort(new Error('stopped by a test'))
    }
    await expect(pull({ signal: stop.signal, onBytes }).result).rejects.toThrow('stopped by a test')
    expect(statSync(weightsBlob()).size).toBe(30_000)
  })
})

describe('a server that lies', () => {
  const wrong = Buffer.from('weightS '.repeat(50_000))

  it.each<[string, FileBehaviour, RegExp]>([
    ['other bytes', send(wrong), /its sha256 is [0-9a-f]{64}/],
    ['more bytes', send(Buffer.concat([FILES[WEIGHTS].bytes, wrong])), /more bytes came/],
    ['another range', wrongRange, /asked for byte 0, the server began at 1/],
  ])('with %s is found out, and nothing of it is kept', async (_, behaviour, text) => {
    await start(({ path }) => (path === WEIGHTS ? behaviour : serve))
    await expect(pull().result).rejects.toThrow(code('download-mismatch', text))
    expect(findSnapshot(folder, MODEL, 'main')).toBe(null)
    expect(weightsBlob()).toMatch(/blobs$/)
  })

  it('with fewer bytes than listed looks like a connection that breaks', async () => {
    await start(({ path }) => (path === WEIGHTS ? send(wrong.subarray(0, 1000)) : serve))
    await expect(pull().result).rejects.toThrow(code('endpoint-unreachable', /ended after 1000 bytes.*1000 of 400000/))
  })

  it('about a small file is found out by its git checksum', async () => {
    await start(({ path }) => (path === 'config.json' ? send(Buffer.from('{"a": 2}')) : serve))
    await expect(pull().result).rejects.toThrow(code('download-mismatch', /config\.json .* git-sha1 4a03/))
  })

  it('is not blamed for a broken part that was there before', async () => {
    await start()
    const { hex } = (
      await createHttpHub({ endpoint: server.url, token: null, userAgent: 'test' }).list(
        MODEL,
        'main',
        new AbortController().signal,
      )
    ).files.find(({ path }) => path === WEIGHTS)?.digest ?? { hex: '' }
    const part = `${blobPath(folder, MODEL, hex)}.incomplete`
    mkdirSync(dirname(part), { recursive: true })
    for (const broken of [Buffer.alloc(5000, 7), Buffer.alloc(500_000, 7)]) {
      writeFileSync(part, broken)
      const { directory } = await pull().result
      expect(readFileSync(join(directory, WEIGHTS)).equals(FILES[WEIGHTS].bytes)).toBe(true)
      truncateSync(join(directory, WEIGHTS), 10)
    }
  })

  it.each<[string, HubRepository['list'], RegExp]>([
    ['a path above the repository', (entry) => ({ ...entry, path: '../../evil' }), /called "\.\.\/\.\.\/evil"/],
    ['an absolute path', (entry) => ({ ...entry, path: '/etc/passwd' }), /called "\/etc\/passwd"/],
    ['a size that is none', (entry) => ({ ...entry, size: -5, lfs: undefined }), /whose size is wrong/],
    ['no checksum', (entry) => ({ ...entry, oid: 'x', lfs: undefined }), /gives README\.md no checksum/],
  ])('in its listing (%s) is refused', async (_, list, text) => {
    await start(undefined, { files: FILES, ...(list === undefined ? {} : { list }) })
    await expect(pull().result).rejects.toThrow(code('download-mismatch', text))
  })
})

describe('what a person is told', () => {
  it('of a model that is not there', async () => {
    await start()
    await expect(pull({ model: 'someone/else' }).result).rejects.toThrow(
      code('endpoint-refused', /has no someone\/else for everybody \(401\).*HF_TOKEN/),
    )
    await expect(pull({ revision: 'v9' }).result).rejects.toThrow(code('endpoint-refused', /has no revision v9/))
  })

  it('of a gated model, without and with a token', async () => {
    await start(undefined, { files: FILES, token: 'hf_right', gated: true })
    await expect(pull().result).rejects.toThrow(
      code('endpoint-refused', /is gated; accept its terms on .*small-model, then set HF_TOKEN/),
    )
    await expect(pull({ token: 'hf_wrong' }).result).rejects.toThrow(
      code('endpoint-refused', /with the account of your token/),
    )
    await pull({ token: 'hf_right' }).result
  })

  it('of names that are none, before anything is asked', async () => {
    await start()
    for (const model of ['../up', 'a/b/c', '', 'a/..', 'a--b/c'])
      await expect(pull({ model }).result).rejects.toThrow(code('option-invalid', /ORGANISATION\/NAME/))
    for (const revision of ['../..', '', 'a/../b'])
      await expect(pull({ revision }).result).rejects.toThrow(code('option-invalid', /--revision/))
    expect(server.asked).toEqual([])
  })

  it('of a download larger than the limit, and of a full disk', async () => {
    await start()
    await expect(pull({ maxBytes: 1000 }).result).rejects.toThrow(code('consent-required', /0\.000 GB more.*--yes/))
    const list: HubRepository['list'] = (entry) =>
      entry.lfs === undefined ? entry : { ...entry, lfs: { ...entry.lfs, size: 2 ** 50 } }
    await server.close()
    await start(undefined, { files: FILES, list })
    await expect(pull({ maxBytes: Number.POSITIVE_INFINITY }).result).rejects.toThrow(
      code('disk-full', /2251799\.8 GB are to be downloaded .* HF_HUB_CACHE/),
    )
    expect(server.downloads).toEqual([])
  })

  it('of a hub that is not there, or is no hub', async () => {
    await start()
    const { url } = server
    await server.close()
    const hub = createHttpHub({ endpoint: url, token: null, userAgent: 'test' })
    await expect(pull({ hub }).result).rejects.toThrow(code('endpoint-unreachable', /cannot reach .*ECONNREFUSED/))
    for (const endpoint of ['huggingface', 'ftp://x', 'https://me:secret@host'])
      expect(() => createHttpHub({ endpoint, token: null, userAgent: 'test' })).toThrow(
        expect.objectContaining({ code: 'option-invalid', message: expect.not.stringContaining('secret') }),
      )
    expect(() => createHttpHub({ endpoint: 'http://mirror.example', token: 'hf_x', userAgent: 'test' })).toThrow(
      code('option-invalid', /not encrypted/),
    )
  })
})

it('sends the token to the hub alone, not along its redirects, and whatever it looks like', async () => {
  await start(undefined, { files: FILES, token: 'mirror-token' })
  await pull({ token: 'mirror-token' }).result
  expect(server.asked.every(({ headers }) => headers.authorization === 'Bearer mirror-token')).toBe(true)
  const redirected = server.downloads.filter(({ path }) => path === WEIGHTS || path === 'tokenizer.json')
  expect(redirected.length).toBe(2)
  for (const { headers } of redirected) expect(headers.authorization).toBe(undefined)
})

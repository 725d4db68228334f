import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { openCheckpoint } from '../../models/frozen-lm/checkpoint.ts'
import { estimateMemory } from '../../models/frozen-lm/memory-estimate.ts'
import { packageFile } from '../../models/package-root.ts'
import { cutAfter, type HubServer, serve, stallAfter, startHubServer } from '../fixtures/hub-server.ts'
import { runCommand, startCommand } from '../fixtures/run-command.ts'
import { itWithSmolLm2, SMOLLM2 } from '../shared-folder.ts'

const TINY = packageFile('models', 'tiny')
const MODEL = 'keepready/tiny'
const folder = mkdtempSync(join(tmpdir(), 'keepready-models-'))
afterAll(() => rmSync(folder, { recursive: true }))
let server: HubServer | null = null
afterEach(async () => {
  await server?.close()
  server = null
})

const tiny = (name: string, large: boolean) => ({ bytes: readFileSync(join(TINY, name)), large })
const REPOSITORY = {
  files: {
    'config.json': tiny('config.json', false),
    'tokenizer_config.json': tiny('tokenizer_config.json', false),
    'tokenizer.json': tiny('tokenizer.json', true),
    'model.safetensors': tiny('model.safetensors', true),
  },
}

function environment(name: string) {
  return {
    HF_HUB_CACHE: join(folder, name),
    XDG_CACHE_HOME: join(folder, `${name}-caches`),
    HF_TOKEN: '',
    HF_ENDPOINT: server?.url ?? '',
  }
}

describe('keepready models', () => {
  it('pulls a model that other commands then take by its name', async () => {
    server = await startHubServer({ [MODEL]: REPOSITORY }, ({ attempt }) => (attempt === 0 ? cutAfter(100_000) : serve))
    const options = { environment: environment('whole') }
    const pulled = await runCommand(['models', 'pull', MODEL, '--json'], options)
    expect(pulled.stderr).toMatch(/pull: 4 files, 7\.\d MB, commit c0ffeec0\n/)
    expect(pulled.stderr).toMatch(/checksums right/)
    const { directory } = JSON.parse(pulled.stdout)
    expect(server.downloads.some(({ start }) => start === 100_000)).toBe(true)

    const listed = await runCommand(['models', 'ls', '--json'], options)
    expect(JSON.parse(listed.stdout).models.map(({ model }: { readonly model: string }) => model)).toEqual([
      'tiny',
      MODEL,
    ])
    const info = JSON.parse((await runCommand(['models', 'info', MODEL, '--json'], options)).stdout)
    expect(info).toMatchObject({ directory, architecture: 'LlamaForCausalLM', layers: 6, tokenizerSize: 6144 })
    const verified = await runCommand(['models', 'verify', MODEL], options)
    expect(verified.code).toBe(0)
    expect(verified.stdout).toMatch(/4 files have the checksum that the hub gave them/)
  })

  it('goes on where a killed pull stopped', async () => {
    let stall = true
    server = await startHubServer({ [MODEL]: REPOSITORY }, ({ path }) =>
      path === 'model.safetensors' && stall ? stallAfter(2_000_000) : serve,
    )
    const options = { environment: environment('killed') }
    const first = startCommand(['models', 'pull', MODEL], options)
    await expect.poll(() => server?.downloads.some(({ path }) => path === 'model.safetensors'), POLL).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 500))
    first.child.kill('SIGKILL')
    await first.finished
    stall = false
    const second = await runCommand(['models', 'pull', MODEL], options)
    expect(second.code).toBe(0)
    expect(second.stderr).toMatch(/7\.\d MB, \d+(\.\d)? MB of them there already/)
    expect(server.downloads.at(-1)).toMatchObject({ path: 'model.safetensors', start: 2_000_000 })
  })

  it('says in its exit code whose fault it is', async () => {
    server = await startHubServer({ [MODEL]: REPOSITORY })
    const options = { environment: environment('refused') }
    const wrong = await runCommand(['models', 'pull', 'keepready/other'], options)
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toMatch(/has no keepready\/other for everybody \(401\).*\[endpoint-refused\]/)
    const offline = await runCommand(['models', 'pull', MODEL], {
      environment: { ...options.environment, HF_HUB_OFFLINE: '1' },
    })
    expect(offline.stderr).toMatch(/HF_HUB_OFFLINE/)
    expect((await runCommand(['models', 'info', MODEL], options)).stderr).toMatch(
      /holds no keepready\/tiny: pull it once with `keepready models pull keepready\/tiny`/,
    )
    expect(server.downloads).toEqual([])
  })
})

const POLL = { timeout: 30_000 }

describe('the memory that models info estimates', () => {
  /** What the estimate says of itself. */
  const TOLERANCE = 0.15

  async function compare(directory: string, run: { readonly layer: number; readonly tokens: number }) {
    const script = packageFile('tests', 'fixtures', 'measure-view.mjs')
    const args = [script, directory, String(run.layer), String(run.tokens)]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    const { totalBytes } = estimateMemory(openCheckpoint(directory), { ...run, weights: 'resident' })
    expect(totalBytes / Number(stdout)).toBeGreaterThan(1 - TOLERANCE)
    expect(totalBytes / Number(stdout)).toBeLessThan(1 + TOLERANCE)
  }

  it('is what reading a view with the embedded model takes', () => compare(TINY, { layer: 4, tokens: 5120 }))

  itWithSmolLm2(
    'is what reading a view with SmolLM2 takes',
    () => compare(SMOLLM2, { layer: 20, tokens: 1024 }),
    180_000,
  )
})

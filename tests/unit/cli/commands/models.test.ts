import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { packageFile } from '../../../../models/package-root.ts'
import { createCommand } from '../../../../src/cli/commands/models.ts'
import { formatBytes } from '../../../../src/cli/format-bytes.ts'
import { ggufOfCheckpoint, tokenizerMetadata, writeGguf } from '../../../fixtures/gguf-file.ts'
import { runInProcess } from '../../../fixtures/run-in-process.ts'

const TINY = packageFile('models', 'tiny')
const folder = mkdtempSync(join(tmpdir(), 'keepready-models-command-'))
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(() => {
  vi.stubEnv('HF_HUB_CACHE', join(folder, 'hub'))
  vi.stubEnv('XDG_CACHE_HOME', join(folder, 'caches'))
})
afterEach(() => vi.unstubAllEnvs())

const run = (...args: readonly string[]) => runInProcess(createCommand(), args)

const tokenizer = tokenizerMetadata(join(TINY, 'tokenizer.json'), 'smollm')
const gguf = writeGguf(
  join(folder, 'tiny.gguf'),
  ggufOfCheckpoint(TINY, { architecture: 'llama', type: 'F16', tokenizer }),
)

describe('keepready models convert', () => {
  it('says what was converted into what, and what to do next', async () => {
    const { out, err, code } = await run('convert', gguf, '--out', join(folder, 'out'))
    expect(code).toBe(0)
    expect(out).toMatch(/LlamaForCausalLM, 56 tensors \(\d+ F16, \d+ F32 before\) as F16, 7\.1 MB/)
    expect(out).toMatch(/next: keepready models info/)
    expect(err).toMatch(/convert: 7\.1 MB written/)
    expect((await run('verify', join(folder, 'out'))).code).toBe(0)
  })

  it('reads a tokenizer before it writes anything, and exits with 3 for a damaged file', async () => {
    writeFileSync(join(folder, 'bad.json'), '{}')
    const bad = await run('convert', gguf, '--out', join(folder, 'never'), '--tokenizer', join(folder, 'bad.json'))
    expect(bad.code).toBe(3)
    expect(bad.err).toMatch(/\[tokenizer-invalid\]/)
    writeFileSync(join(folder, 'cut.gguf'), 'GGUF')
    const cut = await run('convert', join(folder, 'cut.gguf'), '--out', join(folder, 'never'))
    expect([cut.code, cut.err]).toEqual([3, expect.stringMatching(/4 bytes are no GGUF file.*\[gguf-invalid\]/)])
  })
})

describe('keepready models info and ls', () => {
  it('take a GGUF file, which is converted once into the cache that ls shows', async () => {
    const first = await run('info', gguf)
    expect(first.err).toMatch(/convert: 7\.1 MB of GGUF, kept in .*\/caches\/keepready\/gguf\/tiny-[0-9a-f]{16}/)
    expect(first.out).toMatch(/LlamaForCausalLM, 6 layers/)
    expect((await run('info', gguf)).err).toBe('')
    const { out } = await run('ls')
    expect(out).toMatch(/^tiny +LlamaForCausalLM +6 +7\.5 MB +ready$/m)
    expect(out).toMatch(/gguf\/tiny-[0-9a-f]{16} +LlamaForCausalLM +6 +\d\.\d MB +ready$/m)
  })
})

it('sizes are said in the unit that people use for them', () => {
  expect([0, 999, 1000, 269_060_280, 999_600_000, 1.5e9, 2e13].map(formatBytes)).toEqual([
    '0 bytes',
    '999 bytes',
    '1.0 kB',
    '269 MB',
    '1.0 GB',
    '1.5 GB',
    '20.0 TB',
  ])
})

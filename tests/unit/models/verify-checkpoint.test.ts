import { createHash } from 'node:crypto'
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { packageFile } from '../../../models/package-root.ts'
import { readSafetensorsHeader } from '../../../models/safetensors.ts'
import { type VerifiedCheckpoint, verifyCheckpoint } from '../../../models/verify-checkpoint.ts'
import { createCommand } from '../../../src/cli/commands/models.ts'
import { runInProcess } from '../../fixtures/run-in-process.ts'

const TINY = packageFile('models', 'tiny')
const folder = mkdtempSync(join(tmpdir(), 'keepready-verify-'))
afterAll(() => rmSync(folder, { recursive: true }))

let count = 0
function copyOfTiny(): string {
  const directory = join(folder, `${++count}`)
  cpSync(TINY, directory, { recursive: true })
  return directory
}

function verify(directory: string): VerifiedCheckpoint {
  return verifyCheckpoint(directory, { signal: new AbortController().signal, onBytes: () => undefined })
}

/** Writes two bytes into a tensor, after so many elements of two bytes. */
function poke(directory: string, tensor: string, at: { readonly element: number; readonly bits: number }): void {
  const path = join(directory, 'model.safetensors')
  const info = readSafetensorsHeader(path).tensors.get(tensor)
  if (info === undefined) throw new Error(tensor)
  const file = openSync(path, 'r+')
  writeSync(file, Uint8Array.of(at.bits & 255, at.bits >> 8), 0, 2, info.offset + 2 * at.element)
  closeSync(file)
}

describe('verifyCheckpoint', () => {
  it('finds nothing wrong with the embedded model', () => {
    expect(verify(TINY)).toMatchObject({ architecture: 'LlamaForCausalLM', tensors: 56, hashedFiles: 0, findings: [] })
  })

  it('names each tensor that holds NaN or infinity, its layer and its row', () => {
    const directory = copyOfTiny()
    poke(directory, 'model.layers.3.mlp.up_proj.weight', { element: 192 * 7 + 5, bits: 0x7e01 })
    poke(directory, 'model.norm.weight', { element: 191, bits: 0xfc00 })
    const { findings } = verify(directory)
    expect(findings.map(({ code }) => code)).toEqual(['weights-not-finite', 'weights-not-finite'])
    const messages = findings.map(({ message }) => message).sort()
    expect(messages[0]).toMatch(
      /model\.layers\.3\.mlp\.up_proj\.weight of layer 4 holds NaN or infinity, first in row 7/,
    )
    expect(messages[1]).toMatch(/model\.norm\.weight holds NaN or infinity, first in row 191/)
  })

  it('compares what came from the hub with the checksum it is stored under', () => {
    const repository = join(folder, 'models--a--tiny')
    const snapshot = join(repository, 'snapshots', 'd'.repeat(40))
    mkdirSync(join(repository, 'blobs'), { recursive: true })
    cpSync(TINY, snapshot, { recursive: true })
    for (const name of ['config.json', 'model.safetensors']) {
      const bytes = readFileSync(join(snapshot, name))
      const hash = name.endsWith('json') ? createHash('sha1').update(`blob ${bytes.length}\0`) : createHash('sha256')
      const blob = hash.update(bytes).digest('hex')
      renameSync(join(snapshot, name), join(repository, 'blobs', blob))
      symlinkSync(join('..', '..', 'blobs', blob), join(snapshot, name))
    }
    expect(verify(snapshot)).toMatchObject({ hashedFiles: 2, findings: [] })
    poke(snapshot, 'model.norm.weight', { element: 0, bits: 0x3c00 })
    expect(verify(snapshot)).toMatchObject({
      hashedFiles: 1,
      findings: [
        { code: 'download-mismatch', message: expect.stringMatching(/model\.safetensors is not what was pulled/) },
      ],
    })
  })

  it('notes a tokenizer whose ids exceed the vocabulary', () => {
    const directory = copyOfTiny()
    const path = join(directory, 'tokenizer.json')
    const json = JSON.parse(readFileSync(path, 'utf8'))
    json.added_tokens.push({ ...json.added_tokens[0], id: 6144, content: '<one more>' })
    writeFileSync(path, JSON.stringify(json))
    expect(verify(directory).findings).toMatchObject([
      { code: 'tensor-mismatch', message: expect.stringMatching(/ids up to 6144, the embedding 6144 rows/) },
    ])
    json.added_tokens[3].id = 2 ** 40
    writeFileSync(path, JSON.stringify(json))
    expect(verify(directory).findings).toMatchObject([
      { code: 'tokenizer-invalid', message: expect.stringMatching(/added_tokens\.3\.id/) },
    ])
  })

  it('goes on after the first thing that is wrong', () => {
    const directory = copyOfTiny()
    truncateSync(join(directory, 'model.safetensors'), 5_000_000)
    rmSync(join(directory, 'tokenizer.json'))
    expect(new Set(verify(directory).findings.map(({ code }) => code))).toEqual(
      new Set(['safetensors-truncated', 'tokenizer-missing']),
    )
  })
})

describe('keepready models verify', () => {
  it('exits with 3 and says all that is wrong', async () => {
    const directory = copyOfTiny()
    for (const layer of [0, 1, 2, 3, 4, 5])
      poke(directory, `model.layers.${layer}.input_layernorm.weight`, { element: 0, bits: 0x7c00 })
    const { err, code } = await runInProcess(createCommand(), ['verify', directory])
    expect(code).toBe(3)
    expect(err).toMatch(/6 things are wrong:[\s\S]*layer 1 [\s\S]*and 1 more \[weights-not-finite\]/)
  })

  it('says what was checked', async () => {
    const { out, code } = await runInProcess(createCommand(), ['verify', 'tiny'])
    expect(code).toBe(0)
    expect(out).toMatch(/56 tensors in 1 file fit config\.json and are finite/)
  })
})

describe('keepready models info', () => {
  it('prints what a model is and takes, and measures it on request', async () => {
    const { out } = await runInProcess(createCommand(), ['info', 'tiny', '--tokens', '9000', '--probe'])
    expect(out).toMatch(/LlamaForCausalLM, 6 layers, hidden size 192/)
    expect(out).toMatch(/about \d+ MB for a view of 9,000 tokens, more than its context of 8,192/)
    expect(out).toMatch(/speed {9}[\d,]+ tokens\/s/)
  })

  it('counts keys and values by hand: two of one head of 64 in four layers, 4 bytes each', async () => {
    const { out } = await runInProcess(createCommand(), ['info', 'tiny', '--json'])
    expect(JSON.parse(out).memory.keyValueBytesPerToken).toBe(2 * 64 * 4 * 4)
    const deeper = await runInProcess(createCommand(), ['info', 'tiny', '--json', '--layer', '6'])
    expect(JSON.parse(deeper.out).memory.keyValueBytesPerToken).toBe(2 * 64 * 6 * 4)
  })
})

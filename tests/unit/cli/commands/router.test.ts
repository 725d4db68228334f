import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readDataset } from '../../../../data/store/read-dataset.ts'
import { packageFile } from '../../../../models/package-root.ts'
import { createCommand as createInspect } from '../../../../src/cli/commands/inspect.ts'
import { createCommand } from '../../../../src/cli/commands/router.ts'
import { runInline } from '../../../../training/inline-runner.ts'
import { trainRouter } from '../../../../training/train.ts'
import { makeFakeDataset } from '../../../fixtures/fake-dataset.ts'
import { type Outcome, runInProcess } from '../../../fixtures/run-in-process.ts'

const VERSION_1 = packageFile('tests', 'fixtures', 'routers', 'version-1')
let folder: string
const path = (name: string): string => join(folder, name)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-router-command-'))
  await makeFakeDataset({ out: path('dataset'), groups: 12 })
  await makeFakeDataset({ out: path('larger'), groups: 18 })
  const shared = { inputs: 'hidden+evidence', runJobs: runInline, node: '20.1.2', source: 'c'.repeat(40) } as const
  const overrides = { width: 4, epochs: 3, minFuture: 1 }
  await trainRouter({ ...shared, overrides, dataset: await readDataset(path('dataset')), out: path('router') })
  await trainRouter({
    ...shared,
    overrides: { epochs: 2, minFuture: 1 },
    dataset: await readDataset(path('larger')),
    out: path('tuned'),
    from: path('router'),
  })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const router = (...args: readonly string[]): Promise<Outcome> => runInProcess(createCommand(), args)
const inspect = (...args: readonly string[]): Promise<Outcome> => runInProcess(createInspect(), args)

describe('keepready inspect ROUTER', () => {
  it('shows what it reads, its metrics, operating points, curve, quantiles, data and environment', async () => {
    const { out, code } = await inspect(path('router'))
    expect(code).toBe(0)
    for (const pattern of [
      /router .*: schema version 2, reads .* \(4 hidden units, dropout 0\.3; .* parameters\)/,
      /representation: .*fake.*, layer 2, recipe once/,
      /mean ± sd +hidden\+evidence +0\.\d+ ± 0\.\d+/,
      /precision \(default\)/,
      /validation PR-AUC +[▁▂▃▄▅▆▇█ ]{1,3} /,
      /training quantiles +0 % +1 % +5 %/,
      /READY +\d.* % of training pairs/,
      /groups +10 trained on, 2 validated on/,
      /data +runs [0-9a-f]{12}, labels [0-9a-f]{12}/,
      /environment +ort-cpu .*, Node 20\.1\.2, source c{12}/,
      /probe rows [0-9a-f]{12}/,
    ])
      expect(out).toMatch(pattern)
    expect(out).not.toContain('fine-tuned from')
  })

  it('says of a fine-tuned router what it started from and what that one reaches', async () => {
    const { out } = await inspect(path('tuned'))
    expect(out).toMatch(
      /fine-tuned from router [0-9a-f]{12} .*: 12 groups it had seen only train, rotations deal the 6 others/,
    )
    expect(out).toMatch(/the router it started from, on the same test pairs: AUROC /)
  })

  it('gives the card as JSON, beside those of other things, without long lists', async () => {
    const { out, code } = await inspect(path('router'), path('dataset'), VERSION_1, '--json')
    expect(code).toBe(0)
    const { cards } = JSON.parse(out) as { readonly cards: readonly { readonly card: Record<string, unknown> }[] }
    expect(cards.map(({ card }) => card.kind)).toEqual(['router', 'dataset', 'router'])
    const card = cards[0]?.card ?? {}
    expect(card).toMatchObject({ schemaVersion: 2, groups: { training: 10, validation: 2 }, parent: null })
    expect(card.rotations).toHaveLength(5)
    expect(card.standardisation).toBeUndefined()
    expect(cards[2]?.card).toMatchObject({ schemaVersion: 1, probeSha256: null })
  })
})

describe('keepready router verify', () => {
  it('says the largest difference of each way to the trainer, with the dataset also of held-out predictions', async () => {
    const { out, code } = await router('verify', path('router'), '--dataset', path('dataset'))
    expect(code).toBe(0)
    expect(out).toMatch(/5 rotations, 12 files have the SHA-256 they should have/)
    expect(out).toMatch(/float64 forward pass +\d\.\de-\d+/)
    expect(out).toMatch(/held-out predictions, all of groups that their rotation never trained or validated on/)
    expect((await router('verify', path('tuned'), '--dataset', path('larger'))).code).toBe(0)
    const json = JSON.parse((await router('verify', path('router'), '--json')).out) as Record<string, unknown>
    expect(json).toMatchObject({ rotations: 5, findings: [], dataset: null })
  })

  it('ends with 3 and what is wrong when a file was changed', async () => {
    await cp(path('router'), path('damaged'), { recursive: true })
    for (const rotation of ['0', '3']) {
      const file = path(join('damaged', 'rotations', rotation, 'hidden+evidence', 'rotation.json'))
      await writeFile(file, (await readFile(file, 'utf8')).replace('"bestEpoch": ', '"bestEpoch": 1'))
    }
    const { err, code } = await router('verify', path('damaged'))
    expect(code).toBe(3)
    expect(err).toMatch(/2 things are wrong with .*damaged/)
    expect(err).toContain(join('rotations', '3', 'hidden+evidence', 'rotation.json'))
  })

  it('refuses a dataset that the router was not trained on', async () => {
    const { err, code } = await router('verify', path('router'), '--dataset', path('larger'))
    expect(code).toBe(2)
    expect(err).toContain('was trained on other data')
  })
})

describe('keepready router export', () => {
  it('writes the file and says what goes in and comes out', async () => {
    const { out, code } = await router(
      'export',
      path('router'),
      '--onnx',
      path('router.onnx'),
      '--operating-point',
      'fixed',
    )
    expect(code).toBe(0)
    expect(out).toMatch(/router\.onnx: .* ready at operating point fixed \(p >= 0\.600\)/)
    expect(out).toMatch(/output +ready +\(N\)/)
    expect(out).toMatch(/onnxruntime gives the logits of \d+ probe rows to \d\.\de-\d+/)
    expect((await readFile(path('router.onnx'))).length).toBeGreaterThan(500)
  })

  it('exports a router of schema version 1, checked on rows made up', async () => {
    const { out, code } = await router('export', VERSION_1, '--onnx', path('old.onnx'))
    expect(code).toBe(0)
    expect(out).toContain('no threshold: never')
  })
})

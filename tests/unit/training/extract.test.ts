import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LabelRow } from '../../../data/annotate/label-record.ts'
import { type FileSeam, nodeFiles } from '../../../data/store/file-seam.ts'
import { readDataset, readDatasetTrajectories } from '../../../data/store/read-dataset.ts'
import { AppError, type ErrorCode } from '../../../src/errors.ts'
import { EVIDENCE_NAMES, evidenceFeatures } from '../../../src/evidence/online-features.ts'
import type { Interaction, Trajectory } from '../../../src/trajectory/trajectory.ts'
import { type ExtractOptions, extractDataset } from '../../../training/extract.ts'
import { fakeExtractor } from '../../fixtures/fake-extractor.ts'
import { syntheticDataset, syntheticTrajectories } from '../../fixtures/synthetic-dataset.ts'
import { vectorRow } from '../../fixtures/vector-row.ts'

const SYNTHETIC = syntheticDataset({ groups: 7, minLength: 2, maxLength: 9, seed: 5 })
const RUNS = syntheticTrajectories(SYNTHETIC)

/** Every third interaction is READY from i + 2 + shift on, the others stay KEEP. */
function labelsFor(runs: readonly Trajectory[], shift = 0): readonly LabelRow[] {
  return runs.map((run) => ({
    schemaVersion: 1,
    trajectory: run.id,
    annotator: 'test',
    interactionCount: run.interactions.length,
    labels: run.interactions.map((_, i) => ({
      interaction: i,
      boundary: i % 3 === 0 ? i + 2 + shift : null,
      evidence: [],
      reason: 'test',
    })),
  }))
}

const INPUTS = { runsSha256: 'a'.repeat(64), labelsSha256: 'b'.repeat(64) }

let folder: string
let out: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-extract-'))
  out = join(folder, 'dataset')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function options(
  overrides: Partial<ExtractOptions> & { readonly fake?: Parameters<typeof fakeExtractor>[0] } = {},
): ExtractOptions {
  const { fake = {}, ...rest } = overrides
  return {
    runs: RUNS,
    labels: labelsFor(RUNS),
    inputs: INPUTS,
    representation: fakeExtractor(fake).representation,
    startExtractor: () => Promise.resolve(fakeExtractor(fake)),
    out,
    ...rest,
  }
}

async function filesOf(directory: string): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(directory, { recursive: true })).sort()
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, (await readFile(join(directory, name))).toString('base64')])),
  )
}

async function codeOf(attempt: Promise<unknown>): Promise<ErrorCode> {
  try {
    await attempt
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown.code
    throw thrown
  }
  throw new Error('nothing was thrown')
}

/** Fails the n-th write with an errno, as a full disk would. */
function failingFiles(failAt: number, errno: string): FileSeam {
  let writes = 0
  return {
    ...nodeFiles,
    async create(path) {
      const sink = await nodeFiles.create(path)
      return {
        ...sink,
        async write(bytes) {
          writes += 1
          if (writes >= failAt) throw Object.assign(new Error(`${errno}: no space`), { code: errno })
          await sink.write(bytes)
        },
      }
    },
  }
}

describe.each(['once', 'shared-first'] as const)('extractDataset with recipe %s', (recipe) => {
  const fake = { recipe }

  it('holds every pair of every checkpoint with its label, vectors and features', async () => {
    const { dropped } = await extractDataset(options({ fake }))
    const { pairs, vectors, trajectories, manifest } = await readDataset(out, { verify: true })
    const used = RUNS.filter((run) => run.interactions.length >= 3)
    expect(dropped).toEqual(RUNS.filter((run) => run.interactions.length < 3).map((run) => run.id))
    expect(trajectories.map((row) => row.id)).toEqual(used.map((run) => run.id))
    const expected = used.flatMap((run, t) =>
      run.interactions.flatMap((_, c) => (c < 2 ? [] : Array.from({ length: c - 1 }, (_, i) => ({ t, c, i })))),
    )
    expect(pairs.count).toBe(expected.length)
    expect(manifest.counts.pairs).toBe(expected.length)
    for (const [p, { t, c, i }] of expected.entries()) {
      const run = used[t] as Trajectory
      expect([pairs.trajectory[p], pairs.checkpoint[p], pairs.interaction[p]]).toEqual([t, c, i])
      expect(pairs.label[p]).toBe(i % 3 === 0 && c >= i + 2 ? 1 : 0)
      expect(pairs.boundary[p]).toBe(i % 3 === 0 ? i + 2 : -1)
      expect(pairs.futureInteractions[p]).toBe(run.interactions.length - c)
      expect(pairs.sourceTokens[p]).toBe(50 + i)
      const evidence = evidenceFeatures(run, c).values.slice(i * EVIDENCE_NAMES.length, (i + 1) * EVIDENCE_NAMES.length)
      expect(pairs.evidence.slice(p * pairs.evidenceSize, (p + 1) * pairs.evidenceSize)).toEqual(evidence)
    }
    const one = await fakeExtractor(fake).extract({ trajectory: used[1] as Trajectory, checkpoints: [3] })
    const p = expected.findIndex(({ t, c, i }) => t === 1 && c === 3 && i === 1)
    const stored = (row: number): Float32Array => vectorRow(vectors, row)
    const h = one.vectors.find((vector) => vector.role === 'h' && vector.interaction === 1)
    expect(stored(pairs.hRow[p] as number)).toEqual(h?.values)
    expect(stored(pairs.qRow[p] as number)).toEqual(one.vectors.find((vector) => vector.role === 'q')?.values)
    expect([pairs.viewTokens[p], pairs.truncatedTokens[p]]).toEqual([h?.viewTokens, h?.truncatedTokens])
  })

  it('points at the most cosine-similar rows of the same checkpoint, never at the pair itself', async () => {
    await extractDataset(options({ fake }))
    const { pairs, vectors } = await readDataset(out)
    const row = (r: number): Float32Array => vectorRow(vectors, r)
    const cosine = (a: Float32Array, b: Float32Array): number => {
      const dot = (x: Float32Array, y: Float32Array): number =>
        x.reduce((sum, value, k) => sum + value * (y[k] ?? 0), 0)
      return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
    }
    for (let p = 0; p < pairs.count; p++) {
      const pool: number[] = []
      for (let other = 0; other < pairs.count; other++)
        if (pairs.qRow[other] === pairs.qRow[p] && other !== p) pool.push(pairs.hRow[other] as number)
      const own = row(pairs.hRow[p] as number)
      const best = pool
        .map((r) => ({ r, similarity: cosine(own, row(r)) }))
        .sort((a, b) => b.similarity - a.similarity)
        .slice(0, pairs.topK)
        .map(({ r }) => r)
      const top = [...pairs.topRows.slice(p * pairs.topK, (p + 1) * pairs.topK)]
      expect(top).toEqual([...best, -1, -1, -1, -1].slice(0, pairs.topK))
    }
  })

  it('puts groups whose runs are near copies into one group, and says why', async () => {
    const copied = Array.from({ length: 300 }, (_, i) => `copied${i}`).join(' ')
    const used = RUNS.filter((run) => run.interactions.length >= 3)
    const copy = (index: number, group: string): Trajectory => {
      const base = used[index] as Trajectory
      const [first, ...rest] = base.interactions
      return { ...base, group, interactions: [{ ...(first as Interaction), text: copied }, ...rest] }
    }
    const runs = [copy(0, 'second'), copy(1, 'first'), ...used.slice(2)]
    const { manifest } = await extractDataset(options({ fake, runs, labels: labelsFor(runs) }))
    expect(manifest.groupMerges).toMatchObject([
      { group: 'first', members: ['first', 'second'], because: [{ a: runs[0]?.id, b: runs[1]?.id }] },
    ])
    const dataset = await readDataset(out)
    expect(dataset.manifest.groupMerges).toEqual(manifest.groupMerges)
    expect(dataset.trajectories.slice(0, 2).map((row) => row.group)).toEqual(['first', 'first'])
    expect(manifest.counts.groups).toBe(new Set(dataset.trajectories.map((row) => row.group)).size)
    expect((await readDatasetTrajectories(out)).slice(0, 2).map((row) => row.group)).toEqual(['second', 'first'])
  })

  it('writes the same bytes with one worker and with three that finish out of order', async () => {
    await extractDataset(options({ fake }))
    const alone = await filesOf(out)
    const other = join(folder, 'other')
    const delayMs = (run: Trajectory): number => (run.id.length * 7 + run.interactions.length * 13) % 20
    await extractDataset(options({ fake: { ...fake, delayMs }, workers: 3, out: other }))
    expect(await filesOf(other)).toEqual(alone)
    expect(Object.keys(alone)).toEqual([
      'extraction.json',
      'manifest.json',
      'pairs.arrow',
      'trajectories.jsonl',
      'vectors.arrow',
    ])
  })
})

describe('extractDataset, resumed', () => {
  it('goes on after an interruption, reuses what is finished and ends with the same bytes', async () => {
    await extractDataset(options())
    const whole = await filesOf(out)
    const other = join(folder, 'other')
    const abort = new AbortController()
    let begun = 0
    const onExtract = (): void => {
      begun += 1
      if (begun === 4) abort.abort(new AppError('interrupted', 'stop'))
    }
    const interrupted = extractDataset(options({ fake: { onExtract }, out: other, signal: abort.signal }))
    expect(await codeOf(interrupted)).toBe('interrupted')
    expect(await codeOf(readDataset(other))).toBe('dataset-incomplete')
    const result = await extractDataset(options({ out: other }))
    expect(result.reusedTrajectories).toBe(3)
    expect(await filesOf(other)).toEqual(whole)
  })

  it('reuses a finished dataset without touching a file', async () => {
    await extractDataset(options())
    const before = await filesOf(out)
    const startExtractor = (): never => {
      throw new Error('no extractor is needed')
    }
    const result = await extractDataset(options({ startExtractor }))
    expect(result).toMatchObject({ unchanged: true, computedTokens: 0 })
    expect(result.reusedTrajectories).toBe(result.manifest.counts.trajectories)
    expect(await filesOf(out)).toEqual(before)
  })

  it('reads a dataset from before near copies were looked for, and brings its groups up to date', async () => {
    await extractDataset(options())
    const path = join(out, 'manifest.json')
    const { groupMerges, ...before } = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>
    expect(groupMerges).toEqual([])
    await writeFile(path, JSON.stringify(before))
    expect((await readDataset(out)).manifest.groupMerges).toBeUndefined()
    const again = await extractDataset(options())
    expect([again.unchanged, again.computedTokens, again.manifest.groupMerges]).toEqual([false, 0, []])
  })

  it('rewrites pairs and manifest only when the labels are new', async () => {
    await extractDataset(options())
    const before = await filesOf(out)
    const vectorsBefore = await stat(join(out, 'vectors.arrow'))
    const startExtractor = (): never => {
      throw new Error('no extractor is needed')
    }
    const labels = labelsFor(RUNS, 1)
    const inputs = { ...INPUTS, labelsSha256: 'c'.repeat(64) }
    const result = await extractDataset(options({ labels, inputs, startExtractor }))
    expect(result).toMatchObject({ unchanged: false, computedTokens: 0 })
    expect((await stat(join(out, 'vectors.arrow'))).mtimeMs).toBe(vectorsBefore.mtimeMs)
    const after = await filesOf(out)
    const changed = Object.keys(after).filter((name) => after[name] !== before[name])
    expect(changed).toEqual(['manifest.json', 'pairs.arrow'])
    const { pairs, manifest } = await readDataset(out, { verify: true })
    expect(pairs.boundary[0]).toBe(3)
    expect(manifest.inputs.labelsSha256).toBe('c'.repeat(64))
    const direct = join(folder, 'direct')
    await extractDataset(options({ labels, inputs, out: direct }))
    expect(await filesOf(direct)).toEqual(after)
  })

  it('keeps the older dataset readable when new labels do not fit on the disk', async () => {
    await extractDataset(options())
    const before = await filesOf(out)
    const inputs = { ...INPUTS, labelsSha256: 'c'.repeat(64) }
    const attempt = extractDataset(options({ labels: labelsFor(RUNS, 1), inputs, files: failingFiles(3, 'ENOSPC') }))
    expect(await codeOf(attempt)).toBe('disk-full')
    await readDataset(out, { verify: true })
    expect(await filesOf(out)).toEqual({ ...before })
  })

  it.each([
    ['ENOSPC', 25],
    ['EFBIG', 60],
    ['EDQUOT', 140],
  ])('reports %s at write %i as disk-full and goes on from there when there is room again', async (errno, failAt) => {
    await extractDataset(options())
    const whole = await filesOf(out)
    const other = join(folder, 'other')
    expect(await codeOf(extractDataset(options({ out: other, files: failingFiles(failAt, errno) })))).toBe('disk-full')
    await extractDataset(options({ out: other }))
    expect(await filesOf(other)).toEqual(whole)
  })

  it('makes a damaged part again after saying so', async () => {
    await extractDataset(options())
    const whole = await filesOf(out)
    const other = join(folder, 'other')
    const stopAtAssembly: FileSeam = {
      ...nodeFiles,
      create: (path) =>
        path.includes('vectors.arrow') ? Promise.reject(new AppError('interrupted', 'x')) : nodeFiles.create(path),
    }
    expect(await codeOf(extractDataset(options({ out: other, files: stopAtAssembly })))).toBe('interrupted')
    await truncate(join(other, 'parts', '000002.part'), 300)
    expect(await codeOf(extractDataset(options({ out: other })))).toBe('dataset-incomplete')
    const result = await extractDataset(options({ out: other }))
    expect(result.reusedTrajectories).toBe(result.manifest.counts.trajectories - 1)
    expect(await filesOf(other)).toEqual(whole)
  })
})

describe('extractDataset refuses', () => {
  it('a directory made with other options, and names them; --fresh makes it anew', async () => {
    await extractDataset(options())
    const attempt = extractDataset(options({ seed: 9, fake: { recipe: 'shared-first' } }))
    await expect(attempt).rejects.toThrow(
      /other options \(representation\.recipe\.name is once, now shared-first; seed is 0, now 9\): .*--out.*--fresh/,
    )
    expect(await codeOf(extractDataset(options({ maxCheckpointsPerRun: 3 })))).toBe('option-invalid')
    await extractDataset(options({ seed: 9, fresh: true }))
    expect((await readDataset(out, { verify: true })).manifest.seed).toBe(9)
  })

  it('nothing on account of options that led to no result', async () => {
    const onExtract = (): void => {
      throw new AppError('option-invalid', 'the view budget is too small')
    }
    expect(await codeOf(extractDataset(options({ seed: 3, fake: { onExtract } })))).toBe('option-invalid')
    await extractDataset(options({ seed: 4 }))
    expect((await readDataset(out)).manifest.seed).toBe(4)
  })

  it('a directory with other things in it, also with --fresh, and leaves them alone', async () => {
    await writeFile(join(folder, 'thesis.tex'), 'mine')
    const attempt = extractDataset(options({ out: folder, fresh: true }))
    await expect(attempt).rejects.toThrow(/thesis\.tex/)
    expect(await readdir(folder)).toEqual(['thesis.tex'])
  })

  it('a file where the directory should be, and a path through a file', async () => {
    await writeFile(join(folder, 'file'), 'mine')
    await expect(extractDataset(options({ out: join(folder, 'file') }))).rejects.toThrow(/is a file: give --out a dir/)
    expect(await codeOf(extractDataset(options({ out: join(folder, 'file', 'dataset') })))).toBe('file-unreadable')
  })

  it('a run without labels, labels of another length, a missing interaction', async () => {
    const [first, ...others] = labelsFor(RUNS) as [LabelRow, ...LabelRow[]]
    const long = RUNS.find((run) => run.interactions.length >= 4) as Trajectory
    expect(await codeOf(extractDataset(options({ labels: others })))).toBe('labels-mismatch')
    expect(await codeOf(extractDataset(options({ labels: [{ ...first, interactionCount: 99 }, ...others] })))).toBe(
      'labels-mismatch',
    )
    const holes = labelsFor(RUNS).map((row) =>
      row.trajectory === long.id ? { ...row, labels: row.labels.slice(1) } : row,
    )
    await expect(extractDataset(options({ labels: holes }))).rejects.toThrow(/no label for interaction 0/)
  })

  it.each([
    [99, /a label for interaction 99, which it does not have/],
    [0, /a label for interaction 0, which has another one/],
  ])('a label too many, for interaction %d', async (interaction, message) => {
    const long = RUNS.find((run) => run.interactions.length >= 4) as Trajectory
    const labels = labelsFor(RUNS).map((row) => {
      const [first] = row.labels
      return row.trajectory === long.id && first !== undefined
        ? { ...row, labels: [...row.labels, { ...first, interaction }] }
        : row
    })
    const attempt = extractDataset(options({ labels }))
    await expect(attempt).rejects.toThrow(message)
    await expect(attempt).rejects.toMatchObject({ code: 'labels-mismatch' })
  })

  it('two runs of one id, and runs that are all too short', async () => {
    const [first] = RUNS as [Trajectory]
    expect(await codeOf(extractDataset(options({ runs: [...RUNS, first] })))).toBe('rows-invalid')
    const short = RUNS.map((run) => ({ ...run, interactions: run.interactions.slice(0, 2) }))
    expect(await codeOf(extractDataset(options({ runs: short, labels: labelsFor(short) })))).toBe(
      'training-data-insufficient',
    )
  })

  it('an extractor of another representation', async () => {
    const startExtractor = (): ReturnType<ExtractOptions['startExtractor']> =>
      Promise.resolve(fakeExtractor({ storageDtype: 'f32' }))
    expect(await codeOf(extractDataset(options({ startExtractor })))).toBe('representation-mismatch')
  })

  it('a failing extractor, naming the run, and keeps the other parts', async () => {
    const longest = [...RUNS].sort((a, b) => b.interactions.length - a.interactions.length)[2] as Trajectory
    const onExtract = (run: Trajectory): void => {
      if (run.id === longest.id) throw new AppError('session-failed', 'out of memory')
    }
    await expect(extractDataset(options({ fake: { onExtract } }))).rejects.toThrow(`run ${longest.id}: out of memory`)
    expect((await extractDataset(options())).reusedTrajectories).toBe(2)
  })
})

describe('readDataset', () => {
  it('names a directory that is no dataset', async () => {
    expect(await codeOf(readDataset(join(folder, 'nowhere')))).toBe('file-not-found')
  })

  it.each(['vectors.arrow', 'pairs.arrow', 'trajectories.jsonl'])('notices that %s lost its end', async (name) => {
    await extractDataset(options())
    await truncate(join(out, name), (await stat(join(out, name))).size - 9)
    expect(await codeOf(readDataset(out))).toBe('dataset-invalid')
  })

  it('notices a changed byte when asked to verify', async () => {
    await extractDataset(options())
    const bytes = await readFile(join(out, 'vectors.arrow'))
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
    await writeFile(join(out, 'vectors.arrow'), bytes)
    expect(await codeOf(readDataset(out, { verify: true }))).toBe('dataset-invalid')
    expect(await codeOf(extractDataset(options()))).toBe('dataset-invalid')
  })

  it.each([
    [
      'another schema version',
      (text: string) => text.replace('"schemaVersion": 1', '"schemaVersion": 2'),
      /version is 2.*reads version 1/,
    ],
    ['half a manifest', (text: string) => text.slice(0, 100), /no JSON/],
    ['an id that does not fit', (text: string) => text.replace(/"layer": 2/, '"layer": 3'), /representationId/],
    [
      'more pairs than there are',
      (text: string) => text.replace(/"pairs": \d+/, '"pairs": 999999999999'),
      /pairs\.arrow is damaged: it is too small/,
    ],
    [
      'more vectors than there are',
      (text: string) => text.replace(/"vectors": \d+/, '"vectors": 999999999999'),
      /too small/,
    ],
  ])('refuses %s', async (_, edit, message) => {
    await extractDataset(options())
    const path = join(out, 'manifest.json')
    await writeFile(path, edit(await readFile(path, 'utf8')))
    const attempt = readDataset(out)
    await expect(attempt).rejects.toThrow(message)
    expect(await codeOf(readDataset(out))).toBe('dataset-invalid')
  })

  it('refuses vectors of another representation, though they have the same size', async () => {
    await extractDataset(options())
    const other = join(folder, 'other')
    const otherLayer = { ...fakeExtractor({}).representation, layer: 3 }
    const startExtractor = () => Promise.resolve({ ...fakeExtractor({}), representation: otherLayer })
    await extractDataset(options({ out: other, representation: otherLayer, startExtractor }))
    await writeFile(join(out, 'vectors.arrow'), await readFile(join(other, 'vectors.arrow')))
    await expect(readDataset(out)).rejects.toThrow(/holds vectors of representation \w+, expected \w+: use --fresh/)
  })

  it('gives the runs back, readable by their owner only', async () => {
    await extractDataset(options())
    const runs = await readDatasetTrajectories(out)
    expect(runs).toEqual(RUNS.filter((run) => run.interactions.length >= 3))
    expect((await stat(join(out, 'trajectories.jsonl'))).mode & 0o777).toBe(0o600)
  })
})

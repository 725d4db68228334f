import { readdirSync, readFileSync } from 'node:fs'
import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { importFiles } from '../../data/import/import-files.ts'
import { readRuns, writeRuns } from '../../data/store/runs.ts'
import { fixturePath, withFolder } from '../fixtures/import-log.ts'

/** A small log of each format. */
const LOGS = readdirSync(fixturePath('.')).sort()
const JSON_LOGS = LOGS.filter((name) => /\.(?:json|jsonl|traj|ipynb)$/.test(name))

/** Values that real logs have had where another was expected. */
const odd = fc.oneof(
  fc.constantFrom(null, '', [], {}, 0, 'REDACTED', [null], [['x']], '\ud800'),
  fc.jsonValue({ maxDepth: 2 }),
)

/** Puts `value` at the `at`-th place of the tree (places are counted depth first). */
function replaceAt(tree: unknown, at: number, value: unknown): unknown {
  let left = at
  const walk = (node: unknown): unknown => {
    if (left === 0) {
      left = -1
      return value
    }
    left -= 1
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, walk(child)]))
  }
  return walk(tree)
}

const countPlaces = (tree: unknown): number =>
  typeof tree !== 'object' || tree === null
    ? 1
    : Object.values(tree).reduce((sum: number, child) => sum + countPlaces(child), 1)

describe('a log with one odd value anywhere', () => {
  test.prop([fc.constantFrom(...JSON_LOGS), fc.nat(), odd], { numRuns: 250 })(
    'is imported into valid rows or refused with a named error, and never stops the batch',
    async (name, place, value) => {
      const text = readFileSync(fixturePath(name), 'utf8')
      const isLines = name.endsWith('.jsonl')
      const tree: unknown = isLines
        ? text
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
        : JSON.parse(text)
      const changed = replaceAt(tree, 1 + (place % (countPlaces(tree) - 1)), value)
      const changedText =
        isLines && Array.isArray(changed)
          ? changed.map((row) => JSON.stringify(row)).join('\n')
          : JSON.stringify(changed)
      await withFolder({ [name]: changedText }, async (folder) => {
        const { trajectories, files } = await importFiles([folder])
        expect(files).toHaveLength(1)
        if (trajectories.length === 0) return
        await writeRuns(`${folder}/runs`, trajectories)
        expect(await readRuns(`${folder}/runs`)).toEqual(trajectories)
      })
    },
  )
})

/** What crashes, bad disks and careless tools do to a file. */
const damage = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }),
  fc.record({ kind: fc.constant('drop' as const), at: fc.nat(), length: fc.integer({ min: 1, max: 400 }) }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(), length: fc.integer({ min: 1, max: 400 }) }),
  fc.record({
    kind: fc.constant('overwrite' as const),
    at: fc.nat(),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
  }),
  fc.record({ kind: fc.constant('zero' as const), at: fc.nat(), length: fc.integer({ min: 1, max: 5000 }) }),
)
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never

function damaged(log: Buffer, what: Damage): Buffer {
  const at = what.at % log.length
  const [before, after] = [log.subarray(0, at), log.subarray(at)]
  switch (what.kind) {
    case 'cut':
      return before
    case 'drop':
      return Buffer.concat([before, after.subarray(what.length)])
    case 'repeat':
      return Buffer.concat([before, after.subarray(0, what.length), after])
    case 'overwrite':
      return Buffer.concat([before, what.bytes, after.subarray(what.bytes.length)])
    case 'zero':
      return Buffer.concat([before, Buffer.alloc(what.length), after])
    default:
      return what satisfies never
  }
}

describe('a log with damaged bytes', () => {
  test.prop([fc.constantFrom(...LOGS), fc.array(damage, { minLength: 1, maxLength: 3 }), fc.boolean()], {
    numRuns: 250,
  })('gives valid rows or a named error, with branches and redaction as without', async (name, damages, extras) => {
    let bytes: Buffer = readFileSync(fixturePath(name))
    for (const what of damages) if (bytes.length > 0) bytes = damaged(bytes, what)
    await withFolder({ [name]: bytes }, async (folder) => {
      const options = { allBranches: extras, redact: extras }
      const { trajectories, files } = await importFiles([`${folder}/${name}`], options)
      expect(files).toHaveLength(1)
      if (trajectories.length === 0) return
      await writeRuns(`${folder}/runs`, trajectories)
      expect(await readRuns(`${folder}/runs`)).toEqual(trajectories)
    })
  })
})

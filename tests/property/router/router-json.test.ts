/**
 * router.json and rotation.json as anybody may have left them: what is parsed can be shown, everything else is refused by
 * the artefact's own errors.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../../models/package-root.ts'
import { parseRotationRecord, parseRouterManifest } from '../../../models/router/router.schema.ts'
import { routerCard } from '../../../models/router/router-card.ts'
import { routerCardText } from '../../../src/cli/router-card-text.ts'
import { AppError } from '../../../src/errors.ts'
import { createRng } from '../../../src/rng.ts'
import { mutateBytes } from '../../fixtures/mutate-bytes.ts'

const folder = packageFile('tests', 'fixtures', 'routers', 'version-1')
const MANIFEST = readFileSync(join(folder, 'router.json'), 'utf8')
const RECORD = readFileSync(join(folder, 'rotations', '0', 'hidden+evidence', 'rotation.json'), 'utf8')

/** @returns whether the text was read; throws for an error that has no name. */
function read(text: string): boolean {
  try {
    routerCardText(routerCard(parseRouterManifest('router.json', text)), 'router')
    return true
  } catch (thrown) {
    requireNamed(thrown)
    return false
  }
}

function readRecord(text: string): boolean {
  try {
    parseRotationRecord('rotation.json', text)
    return true
  } catch (thrown) {
    requireNamed(thrown)
    return false
  }
}

function requireNamed(thrown: unknown): void {
  if (thrown instanceof AppError && /^router-(invalid|version-unsupported)$/.test(thrown.code)) return
  throw new Error(`not a named error: ${String(thrown)}`, { cause: thrown })
}

/** Every place of a document, as a path of keys. */
function placesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, child]) => placesOf(child, [...path, key]))]
}

function replaceAt(value: unknown, path: readonly string[], replacement: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined || typeof value !== 'object' || value === null) return replacement
  const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...value }
  copy[key] = replaceAt(copy[key], rest, replacement)
  return copy
}

const PLACES = placesOf(JSON.parse(MANIFEST))
const RECORD_PLACES = placesOf(JSON.parse(RECORD))
/** What breaks readers: other types, other sizes, names of the language, numbers out of range. */
const replacement = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 1e308, 2 ** 53, '', 'precision', '__proto__', [], {}, [null], [[]]),
  fc.jsonValue(),
)

describe('a router.json that somebody changed', () => {
  it('is read as it is', () => {
    expect(read(MANIFEST)).toBe(true)
    expect(readRecord(RECORD)).toBe(true)
  })

  test.prop([fc.nat({ max: PLACES.length - 1 }), replacement], { numRuns: 150 })(
    'is read or refused by name when a value is another',
    (place, value) => {
      read(JSON.stringify(replaceAt(JSON.parse(MANIFEST), PLACES[place] ?? [], value)))
    },
  )

  test.prop([fc.nat({ max: RECORD_PLACES.length - 1 }), replacement], { numRuns: 100 })(
    'is read or refused by name when a value of a rotation is another',
    (place, value) => {
      readRecord(JSON.stringify(replaceAt(JSON.parse(RECORD), RECORD_PLACES[place] ?? [], value)))
    },
  )

  test.prop([fc.nat({ max: PLACES.length - 1 })], { numRuns: 100 })('is refused when a value is gone', (place) => {
    const path = PLACES[place] ?? []
    const parent = path.slice(0, -1).reduce<unknown>((value, key) => (value as never)[key], JSON.parse(MANIFEST))
    const text = JSON.stringify(replaceAt(JSON.parse(MANIFEST), path, undefined)) ?? ''
    // A domain may be absent, and JSON writes an absent element of a list as null.
    const isOptional = path.includes('byDomain') && path.length > 2
    if (!Array.isArray(parent) && !isOptional) expect(read(text)).toBe(false)
  })

  test.prop([fc.integer({ min: 1, max: 2 ** 31 })], { numRuns: 150 })(
    'is read or refused by name after bytes changed',
    (seed) => {
      const rng = createRng(seed)
      read(Buffer.from(mutateBytes(Buffer.from(MANIFEST), rng)).toString('utf8'))
      readRecord(Buffer.from(mutateBytes(Buffer.from(RECORD), rng)).toString('utf8'))
    },
  )

  test.prop([fc.nat({ max: MANIFEST.trimEnd().length - 1 })], { numRuns: 100 })(
    'is refused when it is cut',
    (length) => {
      expect(read(MANIFEST.slice(0, length))).toBe(false)
    },
  )

  it.each([
    ['nested a hundred thousand times', `{"schemaVersion":1,"spec":${'['.repeat(1e5)}${']'.repeat(1e5)}}`],
    ['a list', '[]'],
    ['null', 'null'],
    ['of version 0', '{"schemaVersion":0}'],
    ['of version 1.5', '{"schemaVersion":1.5}'],
    ['of a version in words', '{"schemaVersion":"2"}'],
    ['of no version', '{}'],
  ])('is refused when it is %s', (_, text) => {
    expect(read(text)).toBe(false)
    expect(readRecord(text)).toBe(false)
  })
})

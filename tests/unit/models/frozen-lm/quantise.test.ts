import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fc, test } from '@fast-check/vitest'
import { afterAll, describe, expect, it } from 'vitest'
import { compareHidden } from '../../../../models/frozen-lm/bench-execution.ts'
import { openCheckpoint } from '../../../../models/frozen-lm/checkpoint.ts'
import { describeRepresentation } from '../../../../models/frozen-lm/describe-representation.ts'
import { createInt8Quantiser, quantiseInt8 } from '../../../../models/frozen-lm/quantise.ts'
import { representationSchema } from '../../../../models/frozen-lm/representation.schema.ts'
import { createRepresentation, representationId } from '../../../../models/frozen-lm/representation.ts'
import { packageFile } from '../../../../models/package-root.ts'
import { DEFAULT_RECIPE } from '../../../../src/view/recipe.ts'
import { writeRandomFamily } from '../../../fixtures/random-families.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-int8-'))
afterAll(() => rmSync(folder, { recursive: true }))

const WEIGHTS = fc
  .record({ outputs: fc.integer({ min: 1, max: 6 }), inputs: fc.integer({ min: 1, max: 9 }) })
  .chain(({ outputs, inputs }) =>
    fc.record({
      outputs: fc.constant(outputs),
      inputs: fc.constant(inputs),
      values: fc.array(
        fc.float({ noNaN: true, min: -1000, max: 1000 }).map((value) => (Math.abs(value) < 1e-30 ? 0 : value)),
        {
          minLength: outputs * inputs,
          maxLength: outputs * inputs,
        },
      ),
    }),
  )

describe('a matrix as integers', () => {
  test.prop([WEIGHTS])('is transposed, uses the whole range of each row, and is half a step off at most', (matrix) => {
    const { outputs, inputs } = matrix
    const weights = Float32Array.from(matrix.values)
    const { values, scales } = quantiseInt8(weights, { outputs, inputs })
    for (let row = 0; row < outputs; row++) {
      const scale = scales[row] ?? 0
      const largest = Math.max(...weights.subarray(row * inputs, (row + 1) * inputs).map(Math.abs))
      expect(scale).toBeCloseTo(largest === 0 ? 1 : largest / 127, 5)
      for (let col = 0; col < inputs; col++) {
        const integer = values[col * outputs + row] ?? 0
        expect(Math.abs(integer)).toBeLessThanOrEqual(127)
        expect(Math.abs(integer * scale - (weights[row * inputs + col] ?? 0))).toBeLessThanOrEqual(0.5001 * scale)
      }
    }
  })

  it('takes a row of vanishing values for zeros instead of dividing by nothing', () => {
    const { values, scales } = quantiseInt8(Float32Array.of(1e-45, -1e-40, 0, 2), { outputs: 2, inputs: 2 })
    expect([[...values], [...scales]]).toEqual([
      [0, 0, 0, 127],
      [1, Math.fround(2 / 127)],
    ])
  })

  it('leaves the last map of the feed-forward as it is', () => {
    const quantise = createInt8Quantiser()
    writeRandomFamily('llama', join(folder, 'llama'))
    const { tensors } = openCheckpoint(join(folder, 'llama'))
    const done = [...tensors]
      .filter(([name]) => /proj\.weight$/.test(name))
      .map(([name, t]) => [name, quantise(name, t)])
    const kept = done.filter(([, matrix]) => matrix === null).map(([name]) => name)
    expect(kept).toEqual(['model.layers.0.mlp.down_proj.weight', 'model.layers.1.mlp.down_proj.weight'])
    expect(done.length).toBe(14)
  })
})

describe('a model with integer products', () => {
  it('has hidden states near those of float32 where no activation stands out', async () => {
    const directory = join(folder, 'llama')
    writeRandomFamily('llama', directory)
    const pair = { checkpoint: openCheckpoint(directory), base: {}, other: { quantize: 'int8' as const } }
    const tokens = Int32Array.from({ length: 90 }, (_, i) => (i * 37 + 5) % 90)
    const hooks = { signal: new AbortController().signal, onStep: () => undefined }
    const agreements = await compareHidden(pair, { layers: [1, 2], tokens }, hooks)
    expect(agreements.map(({ layer }) => layer)).toEqual([1, 2])
    for (const { lowestCosine, meanError } of agreements) {
      expect(lowestCosine).toBeGreaterThan(0.97)
      // Different numbers, not the same graph twice.
      expect(meanError).toBeGreaterThan(1e-4)
    }
  })

  it('is another representation; one in float32 has the id it always had', () => {
    const options = {
      directory: packageFile('models', 'tiny'),
      layer: 'default',
      recipe: DEFAULT_RECIPE,
      storageDtype: 'f16',
    } as const
    const float32 = describeRepresentation(options)
    const int8 = describeRepresentation({ ...options, execution: { quantize: 'int8' } })
    const { graphVersion, recipeVersion, ...parts } = float32
    expect(representationId(float32)).toBe(representationId(createRepresentation(parts)))
    expect('quantize' in float32).toBe(false)
    expect(representationId(int8)).not.toBe(representationId(float32))
    expect(representationSchema.parse(JSON.parse(JSON.stringify(int8)))).toEqual(int8)
    expect([graphVersion, recipeVersion]).toEqual([int8.graphVersion, int8.recipeVersion])
  })
})

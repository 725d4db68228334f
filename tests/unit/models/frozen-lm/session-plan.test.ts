import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Checkpoint, openCheckpoint } from '../../../../models/frozen-lm/checkpoint.ts'
import { completeExecution, type Execution } from '../../../../models/frozen-lm/execution.ts'
import { planSession, resolveWeights } from '../../../../models/frozen-lm/session-plan.ts'
import { writeRandomFamily } from '../../../fixtures/random-families.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-plan-'))
afterAll(() => rmSync(folder, { recursive: true }))

function open(name: string): Checkpoint {
  const directory = join(folder, name)
  writeRandomFamily(name, directory)
  return openCheckpoint(directory)
}
const F32 = open('llama')
const F16 = open('llama in float16')

/** What the runtime is told beside the folder of the weights. */
function told(checkpoint: Checkpoint, execution: Partial<Execution>) {
  const { options, variant, weights } = planSession(checkpoint, completeExecution(execution))
  const { session = {}, ...rest } = options.extra as Record<string, Record<string, unknown>>
  expect(session.model_external_initializers_file_folder_path).toBe(checkpoint.root)
  const { model_external_initializers_file_folder_path: _, ...more } = session
  return { providers: options.executionProviders, session: more, rest, variant, weights }
}

describe('a session plan', () => {
  it('maps weights by not packing them; half-precision ones are widened at run and not folded', () => {
    expect(told(F32, { weights: 'mmap' })).toMatchObject({
      providers: ['cpu'],
      session: { disable_prepacking: '1' },
      rest: {},
      variant: { widen: 'at-load' },
    })
    expect(told(F16, { weights: 'mmap' })).toMatchObject({
      session: { disable_prepacking: '1' },
      rest: { optimization: { disable_specified_optimizers: 'ConstantFolding' } },
      variant: { widen: 'at-run' },
    })
  })

  it('packs resident weights', () => {
    for (const checkpoint of [F32, F16])
      expect(told(checkpoint, { weights: 'resident' })).toMatchObject({ session: {}, rest: {}, weights: 'resident' })
  })

  it('decides by the files alone where nothing is said, so that bits do not depend on the machine', () => {
    expect([resolveWeights('auto', false), resolveWeights('auto', true)]).toEqual(['mmap', 'resident'])
    expect(told(F32, {})).toEqual(told(F32, { weights: 'mmap' }))
    expect(told(F16, {})).toEqual(told(F16, { weights: 'resident' }))
  })

  it.each(['cuda', 'webgpu'] as const)('asks for %s alone and forbids that operators run on the CPU', (device) => {
    expect(told(F32, { device })).toMatchObject({
      providers: [device],
      session: { disable_cpu_ep_fallback: '1' },
      variant: { operators: 'plain' },
    })
  })

  it('uses one thread, so that equal input gives equal bits', () => {
    const { options } = planSession(F32, completeExecution())
    expect(options).toMatchObject({ intraOpNumThreads: 1, interOpNumThreads: 1 })
  })
})

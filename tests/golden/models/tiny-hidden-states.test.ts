import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadFrozenLm } from '../../../models/frozen-lm/load-frozen-lm.ts'
import type { FrozenLm } from '../../../models/frozen-lm/port.ts'
import { embeddedModelDirectory } from '../../../models/model-directory.ts'
import { packageFile } from '../../../models/package-root.ts'
import { checkSequences, checkSharedPrefix, openGolden } from './hidden-states.ts'

const golden = openGolden(packageFile('tests', 'golden', 'tiny'))

describe.each(golden.layers.map((layer) => ({ layer })))('the embedded model at layer $layer', ({ layer }) => {
  let lm: FrozenLm
  beforeAll(async () => {
    lm = await loadFrozenLm({ directory: embeddedModelDirectory(), layer })
  })
  afterAll(() => lm.close())

  it('gives the golden hidden state in every row', async () => {
    await checkSequences(lm, golden)
  })

  it('gives the golden state of targets behind a shared prefix, bit for bit that of the full view', async () => {
    await checkSharedPrefix(lm, golden, [0, 1, 2, 3])
  })
})

it('covers every layer from the embeddings to the last but the first', () => {
  expect(golden.layers).toEqual([0, 2, 3, 4, 5, 6])
})

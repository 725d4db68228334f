import { describe } from 'vitest'
import { loadFrozenLm } from '../../../models/frozen-lm/load-frozen-lm.ts'
import { itWithSmolLm2, SMOLLM2 } from '../../shared-folder.ts'
import { checkSequences, checkSharedPrefix, openGolden } from './hidden-states.ts'

const TIMEOUT_MS = 240_000

/** A full view costs 1,000 tokens; the embedded model checks all of them at every layer. */
const FULL_VIEWS: Readonly<Record<number, readonly number[]>> = { 0: [0, 1, 2, 3], 8: [0, 3], 20: [3] }

describe('SmolLM2-135M-Instruct', () => {
  for (const layer of [0, 8, 15, 20, 30]) {
    itWithSmolLm2(
      `gives the golden hidden states at layer ${layer}, alone and behind a shared prefix`,
      async () => {
        const golden = openGolden(SMOLLM2)
        const lm = await loadFrozenLm({ directory: SMOLLM2, layer })
        await checkSequences(lm, golden)
        await checkSharedPrefix(lm, golden, FULL_VIEWS[layer] ?? [])
        await lm.close()
      },
      TIMEOUT_MS,
    )
  }
})

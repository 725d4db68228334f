import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ADAMW_GENERATED, generateAdamwModule } from '../../../../scripts/build-adamw-wasm.ts'

describe('adamw-wasm.ts', () => {
  it('is what the generator makes of adamw.wat today', async () => {
    expect(readFileSync(ADAMW_GENERATED, 'utf8')).toBe(await generateAdamwModule())
  })
})

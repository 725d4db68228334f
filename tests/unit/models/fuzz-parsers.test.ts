import { expect, it } from 'vitest'
import { fuzzGguf, fuzzSafetensors } from '../../fixtures/fuzz-parsers.ts'

it('twenty thousand mutated safetensors files are read or refused by name', () => {
  const { read, refused } = fuzzSafetensors(20_000, 1)
  expect(read + refused).toBe(20_000)
  // Both happen, or the mutations prove nothing.
  expect(read).toBeGreaterThan(200)
  expect(refused).toBeGreaterThan(5_000)
})

it('mutated GGUF files are read or refused by name', async () => {
  const { read, refused } = await fuzzGguf(1_500, 2)
  expect(read + refused).toBe(1_500)
  expect(read).toBeGreaterThan(20)
  expect(refused).toBeGreaterThan(300)
})

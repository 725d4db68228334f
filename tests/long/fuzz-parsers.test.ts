/** The fuzzing of tests/unit/models/fuzz-parsers.test.ts with new cases, and many more of them. */
import { expect, it } from 'vitest'
import { fuzzGguf, fuzzSafetensors } from '../fixtures/fuzz-parsers.ts'

const seed = Date.now() % 2 ** 31

it(`two million mutated safetensors files are read or refused by name (seed ${seed})`, () => {
  const { read, refused } = fuzzSafetensors(2_000_000, seed)
  expect(read + refused).toBe(2_000_000)
})

it(`a hundred thousand mutated GGUF files are read or refused by name (seed ${seed})`, async () => {
  const { read, refused } = await fuzzGguf(100_000, seed)
  expect(read + refused).toBe(100_000)
})

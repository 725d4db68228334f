/**
 * Seeded randomness as a value that its owner passes on. Pure: no global state.
 * The generator is pure-rand's xoroshiro128+; the state is serialisable so that a run resumes bit for bit.
 */
import { xoroshiro128plus, xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus'

export interface Rng {
  /** Uniform 32 bits as an unsigned integer. */
  nextUint32(): number
  /** Uniform in [0, 1), 32 bits of resolution. */
  nextFloat(): number
  /** Uniform integer in [0, bound); 1 <= bound <= 2^32, unbiased by rejection. */
  nextBelow(bound: number): number
  /** Standard normal (Box-Muller, two draws). */
  nextNormal(): number
  /** State for `createRng(state)`. */
  state(): readonly number[]
}

/** @param seed an integer, or the state another generator returned */
export function createRng(seed: number | readonly number[]): Rng {
  const generator = typeof seed === 'number' ? xoroshiro128plus(seed) : xoroshiro128plusFromState([...seed])
  const nextUint32 = (): number => generator.next() >>> 0
  const nextFloat = (): number => nextUint32() / 4294967296
  return {
    nextUint32,
    nextFloat,
    nextBelow(bound) {
      const limit = 4294967296 - (4294967296 % bound)
      let value = nextUint32()
      while (value >= limit) value = nextUint32()
      return value % bound
    },
    nextNormal() {
      const radius = Math.sqrt(-2 * Math.log(1 - nextFloat()))
      return radius * Math.cos(2 * Math.PI * nextFloat())
    },
    state: () => generator.getState(),
  }
}

/** A seed for a named purpose, so that adding one consumer never shifts the draws of another (FNV-1a over the name). */
export function deriveSeed(seed: number, ...names: readonly (string | number)[]): number {
  let hash = 0x811c9dc5 ^ seed
  for (const char of names.join('/')) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return hash | 0
}

/** Fisher-Yates into a new array. */
export function shuffled<T>(items: readonly T[], rng: Rng): T[] {
  const out = [...items]
  for (let i = out.length - 1; i > 0; i--) {
    const j = rng.nextBelow(i + 1)
    const a = out[i] as T
    out[i] = out[j] as T
    out[j] = a
  }
  return out
}

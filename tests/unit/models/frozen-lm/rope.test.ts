import { describe, expect, it } from 'vitest'
import { type RopeConfig, ropeTable } from '../../../../models/frozen-lm/rope.ts'

const HEAD_SIZE = 32
const HALF = HEAD_SIZE / 2

/** Angle per position of each pair, read back from row 1 of a table. */
function frequencies(rope: RopeConfig): number[] {
  const { cos, sin } = ropeTable({ rope, headSize: HEAD_SIZE, rows: 2 })
  return Array.from({ length: HALF }, (_, i) => Math.atan2(sin[HALF + i] ?? 0, cos[HALF + i] ?? 0))
}

const plain = frequencies({ kind: 'default', theta: 10000 })

describe('ropeTable', () => {
  it('rotates pair i of position p by p / theta^(2i / headSize)', () => {
    const { cos, sin } = ropeTable({ rope: { kind: 'default', theta: 10000 }, headSize: HEAD_SIZE, rows: 40 })
    expect(cos.length).toBe(40 * HALF)
    for (const [position, i] of [
      [0, 3],
      [1, 0],
      [39, 5],
      [39, 15],
    ] as const) {
      const angle = position / 10000 ** ((2 * i) / HEAD_SIZE)
      expect(cos[position * HALF + i]).toBeCloseTo(Math.cos(angle), 5)
      expect(sin[position * HALF + i]).toBeCloseTo(Math.sin(angle), 5)
    }
  })

  it('divides every frequency when linear', () => {
    frequencies({ kind: 'linear', theta: 10000, factor: 4 }).forEach((frequency, i) => {
      expect(frequency).toBeCloseTo((plain[i] ?? 0) / 4, 6)
    })
  })

  it('divides each frequency by its own factor, and scales all of the table', () => {
    const factors = Array.from({ length: HALF }, (_, i) => 1 + i / 3)
    const rope = { kind: 'factors', theta: 10000, factors, attentionFactor: 1.19 } as const
    frequencies(rope).forEach((frequency, i) => {
      expect(frequency).toBeCloseTo((plain[i] ?? 0) / (factors[i] ?? 0), 6)
    })
    const { cos, sin } = ropeTable({ rope, headSize: HEAD_SIZE, rows: 2 })
    expect(Math.hypot(cos[HALF + 3] ?? 0, sin[HALF + 3] ?? 0)).toBeCloseTo(1.19, 6)
  })

  it('keeps short wavelengths and stretches long ones in llama3', () => {
    const scaled = frequencies({
      kind: 'llama3',
      theta: 10000,
      factor: 8,
      lowFrequencyFactor: 1,
      highFrequencyFactor: 4,
      originalContextLength: 256,
    })
    const ratio = scaled.map((frequency, i) => (plain[i] ?? 0) / frequency)
    plain.forEach((frequency, i) => {
      const rotations = (256 * frequency) / (2 * Math.PI)
      if (rotations > 4) expect(ratio[i]).toBeCloseTo(1, 4)
      else if (rotations < 1) expect(ratio[i]).toBeCloseTo(8, 2)
      else expect(ratio[i]).toBeGreaterThan(1)
    })
    expect(ratio.every((value, i) => i === 0 || value >= (ratio[i - 1] ?? 0) - 1e-3)).toBe(true)
  })

  it('blends from kept to divided frequencies in yarn and scales cosine and sine', () => {
    const rope: RopeConfig = {
      kind: 'yarn',
      theta: 10000,
      factor: 4,
      betaFast: 32,
      betaSlow: 1,
      originalContextLength: 1024,
      attentionFactor: 1.25,
    }
    const ratio = frequencies(rope).map((frequency, i) => (plain[i] ?? 0) / frequency)
    expect(ratio[0]).toBeCloseTo(1, 4)
    expect(ratio.at(-1)).toBeCloseTo(4, 2)
    expect(ropeTable({ rope, headSize: HEAD_SIZE, rows: 1 }).cos[0]).toBe(1.25)
  })
})

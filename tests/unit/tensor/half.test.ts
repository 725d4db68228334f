import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import {
  decodeBf16,
  decodeF16,
  encodeBf16,
  encodeF16,
  F16_MAX,
  f16BitsToF32,
  f32ToF16Bits,
} from '../../../src/tensor/half.ts'

/** Independent decoder, straight from IEEE 754: (-1)^s * 2^(e-15) * (1 + m/1024). */
function textbookF16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 31
  const mantissa = bits & 1023
  if (exponent === 31) return mantissa === 0 ? sign * Infinity : Number.NaN
  return exponent === 0 ? sign * mantissa * 2 ** -24 : sign * 2 ** (exponent - 15) * (1 + mantissa / 1024)
}

const finiteF32 = fc.float({ noNaN: true, noDefaultInfinity: true })

describe('f16', () => {
  it('decodes all 65,536 bit patterns as IEEE 754 says', () => {
    const all = Uint16Array.from({ length: 65536 }, (_, i) => i)
    decodeF16(all).forEach((value, bits) => {
      if (!Object.is(value, textbookF16(bits))) throw new Error(`bits ${bits}: ${value}`)
    })
  })

  it('encodes every finite f16 back to its own bits, minus zero included', () => {
    for (let bits = 0; bits < 65536; bits++) {
      if ((bits & 0x7c00) !== 0x7c00 && f32ToF16Bits(f16BitsToF32(bits)) !== bits) throw new Error(`bits ${bits}`)
    }
  })

  it('rounds to the nearest neighbour, ties to the even mantissa, in every binade', () => {
    for (let bits = 0; bits < 0x7bff; bits++) {
      const low = textbookF16(bits)
      const high = textbookF16(bits + 1)
      const middle = (low + high) / 2
      const even = bits % 2 === 0 ? bits : bits + 1
      const nudge = (high - low) / 64
      if (f32ToF16Bits(middle) !== even) throw new Error(`tie above ${low}`)
      if (f32ToF16Bits(middle - nudge) !== bits) throw new Error(`below the tie above ${low}`)
      if (f32ToF16Bits(middle + nudge) !== bits + 1) throw new Error(`above the tie above ${low}`)
    }
  })

  test.prop([finiteF32])('error is at most half a unit in the last place', (x) => {
    fc.pre(Math.abs(x) <= F16_MAX)
    const y = f16BitsToF32(f32ToF16Bits(x))
    expect(Math.abs(x - y)).toBeLessThanOrEqual(Math.max(2 ** -25, Math.abs(x) * 2 ** -11))
  })

  it('refuses to narrow values that would become infinite, and says which', () => {
    expect(() => encodeF16(Float32Array.of(1, -65520))).toThrow(/-65520 at index 1 .*f16/)
    expect(() => encodeF16(Float32Array.of(Number.NaN))).toThrow(expect.objectContaining({ code: 'output-not-finite' }))
    expect([...encodeF16(Float32Array.of(65519, -65504))]).toEqual([0x7bff, 0xfbff])
  })

  it('reads a subarray at an odd float offset', () => {
    expect([...encodeF16(Float32Array.of(9, 1, 2).subarray(1))]).toEqual([0x3c00, 0x4000])
  })
})

describe('bf16', () => {
  test.prop([finiteF32])('keeps 8 bits of precision and the full range', (x) => {
    fc.pre(Math.abs(x) < 3.38e38)
    const y = decodeBf16(encodeBf16(Float32Array.of(x)))[0] ?? Number.NaN
    expect(Math.abs(x - y)).toBeLessThanOrEqual(Math.max(2 ** -134, Math.abs(x) * 2 ** -8))
  })

  it('breaks ties to even', () => {
    const tieToEven = new Float32Array(Uint32Array.of(0x3f808000, 0x3f818000, 0x3f808001).buffer)
    expect([...encodeBf16(tieToEven)]).toEqual([0x3f80, 0x3f82, 0x3f81])
  })

  it('refuses infinities', () => {
    expect(() => encodeBf16(Float32Array.of(Infinity))).toThrow(expect.objectContaining({ code: 'output-not-finite' }))
    expect(() => encodeBf16(Float32Array.of(3.4e38))).toThrow(expect.objectContaining({ code: 'output-not-finite' }))
  })
})

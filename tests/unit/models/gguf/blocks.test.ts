import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { BLOCK_TYPES } from '../../../../models/gguf/blocks.ts'
import { f16BitsToF32, f32ToF16Bits } from '../../../../src/tensor/half.ts'

function decode(name: string, bytes: Uint8Array): Float32Array {
  const type = [...BLOCK_TYPES.values()].find((candidate) => candidate.name === name)
  if (type === undefined) throw new Error(`no ${name}`)
  expect(bytes.length % type.sizeBytes).toBe(0)
  const out = new Float32Array((bytes.length / type.sizeBytes) * type.size)
  type.decode(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), out)
  return out
}

const f16 = (value: number): number[] => {
  const bits = f32ToF16Bits(value)
  return [bits & 255, bits >> 8]
}

describe('a block computed by hand', () => {
  it('of Q8_0 is scale times signed byte', () => {
    const bytes = Uint8Array.from([...f16(0.5), 0, 1, 255, 128, 127, ...Array(27).fill(4)])
    expect([...decode('Q8_0', bytes)]).toEqual([0, 0.5, -0.5, -64, 63.5, ...Array(27).fill(2)])
  })

  it('of Q4_0 has low nibbles in its first half, high ones in its second, both less 8', () => {
    const bytes = Uint8Array.from([...f16(2), 0x80, 0x1f, ...Array(14).fill(0x88)])
    expect([...decode('Q4_0', bytes)]).toEqual([-16, 14, ...Array(14).fill(0), 0, -14, ...Array(14).fill(0)])
  })

  it('of Q4_1 is scale times nibble plus minimum', () => {
    const bytes = Uint8Array.from([...f16(0.25), ...f16(-1), 0xf0, 0x01, ...Array(14).fill(0x44)])
    const zeros = Array(14).fill(0)
    expect([...decode('Q4_1', bytes)]).toEqual([-1, -0.75, ...zeros, 2.75, -1, ...zeros])
  })

  it('of Q5_0 takes bit i of the 32 as fifth bit of weight i', () => {
    // Fifth bits of weights 0 and 17.
    const bytes = Uint8Array.from([...f16(1), 0x01, 0, 0x02, 0, 0x21, 0x43, ...Array(14).fill(0)])
    const out = decode('Q5_0', bytes)
    expect([out[0], out[1], out[2], out[16], out[17], out[18]]).toEqual([17 - 16, 3 - 16, -16, 2 - 16, 20 - 16, -16])
  })

  it('of Q5_1 adds the minimum', () => {
    const bytes = Uint8Array.from([...f16(0.5), ...f16(3), 0, 0, 0, 0x80, ...Array(15).fill(0), 0x70])
    const out = decode('Q5_1', bytes)
    expect([out[0], out[30], out[31]]).toEqual([3, 3, 23 / 2 + 3])
  })

  it('of Q4_K has six-bit scales, of which sub-blocks 4 to 7 keep two bits above those of 0 to 3', () => {
    const scales = [0b01_000001, 0, 0, 63, 0b10_000010, 0, 0, 63, 0x4_3, 0, 0, 0]
    const nibbles = [...Array(64).fill(0), ...Array(32).fill(0x52), ...Array(32).fill(0)]
    const out = decode('Q4_K', Uint8Array.from([...f16(0.5), ...f16(0.25), ...scales, ...nibbles]))
    // Sub-block 0: scale 1, minimum 2, q 0. Sub-block 4: scale 3 | 1 << 4 = 19, minimum 4 | 2 << 4 = 36, q 2.
    expect([out[0], out[31]]).toEqual([-0.5, -0.5])
    expect([out[128], out[159]]).toEqual([0.5 * 19 * 2 - 0.25 * 36, 0.5 * 19 * 2 - 0.25 * 36])
    // Sub-block 5: scale 0, minimum 0. Sub-block 3: minimum 63.
    expect([out[160], out[96]]).toEqual([0, -0.25 * 63])
  })

  it('of Q5_K takes bit s of byte i as fifth bit of weight i in sub-block s', () => {
    const scales = [1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1]
    const fifth = [0b1000_0010, ...Array(31).fill(0)]
    const out = decode('Q5_K', Uint8Array.from([...f16(1), ...f16(1), ...scales, ...fifth, ...Array(128).fill(0x21)]))
    // Sub-blocks 0 and 1 share bytes: low nibble 1, high nibble 2.
    expect([out[0], out[1], out[32], out[33], out[7 * 32], out[7 * 32 + 1]]).toEqual([1, 1, 18, 2, 18, 2])
  })

  it('of Q6_K joins a nibble and two bits, less 32, and scales sixteen weights alike', () => {
    const low = new Uint8Array(128)
    low[0] = 0x5f
    low[32] = 0xa1
    const high = new Uint8Array(64)
    high[0] = 0b11_10_01_00
    const scales = [1, 0, 2, 0, 255, 0, 3, 0, ...Array(8).fill(0)]
    const out = decode('Q6_K', Uint8Array.from([...low, ...high, ...scales, ...f16(0.5)]))
    expect([out[0], out[32], out[64], out[96]]).toEqual([
      0.5 * (0x0f - 32),
      2 * 0.5 * (0x11 - 32),
      -0.5 * (0x25 - 32),
      3 * 0.5 * (0x3a - 32),
    ])
    // `out[16]` has scale 0; an untouched weight is -32 times its scale.
    expect([out[16], out[1]]).toEqual([-0, -16])
  })
})

const halfFloat = fc
  .integer({ min: 0, max: 0xffff })
  .map(f16BitsToF32)
  .filter((value) => Number.isFinite(value) && Math.abs(value) < 200 && (value === 0 || Math.abs(value) > 1e-4))
const quants = (count: number, bits: number) =>
  fc.array(fc.integer({ min: 0, max: 2 ** bits - 1 }), { minLength: count, maxLength: count })

/** Within one rounding of each of the formula's steps: 3 x 2^-24 of its largest term. */
function expectNear(got: Float32Array, wanted: readonly { readonly value: number; readonly terms: number }[]): void {
  expect(got.length).toBe(wanted.length)
  for (const [i, { value, terms }] of wanted.entries())
    expect(Math.abs((got[i] ?? Number.NaN) - value)).toBeLessThanOrEqual(3 * 2 ** -24 * terms)
}

/** Packed by the formula w = a * q - b from fields, unpacked by the decoder: two readings of the layout, the second in f64. */
describe('a block packed from its fields', () => {
  test.prop([halfFloat, halfFloat, quants(32, 4)])('of Q4_1 decodes to q * d + m', (d, m, q) => {
    const nibbles = Array.from({ length: 16 }, (_, i) => (q[i] ?? 0) | ((q[i + 16] ?? 0) << 4))
    const wanted = q.map((value) => ({ value: value * d + m, terms: Math.abs(value * d) + Math.abs(m) }))
    expectNear(decode('Q4_1', Uint8Array.from([...f16(d), ...f16(m), ...nibbles])), wanted)
  })

  test.prop([halfFloat, halfFloat, quants(32, 5)])('of Q5_1 decodes to q * d + m', (d, m, q) => {
    const fifth = q.reduce((bits, value, i) => bits | (BigInt(value >> 4) << BigInt(i)), 0n)
    const high = [0n, 8n, 16n, 24n].map((shift) => Number((fifth >> shift) & 255n))
    const nibbles = Array.from({ length: 16 }, (_, i) => ((q[i] ?? 0) & 15) | (((q[i + 16] ?? 0) & 15) << 4))
    const wanted = q.map((value) => ({ value: value * d + m, terms: Math.abs(value * d) + Math.abs(m) }))
    expectNear(decode('Q5_1', Uint8Array.from([...f16(d), ...f16(m), ...high, ...nibbles])), wanted)
  })

  test.prop([halfFloat, halfFloat, quants(8, 6), quants(8, 6), quants(256, 5), fc.boolean()])(
    'of Q4_K and Q5_K decodes to d * scale * q - dmin * minimum',
    (d, dmin, scale, minimum, q5, fiveBits) => {
      const q = fiveBits ? q5 : q5.map((value) => value & 15)
      const packed = new Uint8Array(12)
      for (let s = 0; s < 4; s++) {
        packed[s] = (scale[s] ?? 0) | (((scale[s + 4] ?? 0) >> 4) << 6)
        packed[s + 4] = (minimum[s] ?? 0) | (((minimum[s + 4] ?? 0) >> 4) << 6)
        packed[s + 8] = ((scale[s + 4] ?? 0) & 15) | (((minimum[s + 4] ?? 0) & 15) << 4)
      }
      const nibbles = new Uint8Array(128)
      const fifth = new Uint8Array(32)
      for (const [at, value] of q.entries()) {
        const [sub, i] = [at >> 5, at & 31]
        const byte = 32 * (sub >> 1) + i
        nibbles[byte] = (nibbles[byte] ?? 0) | ((value & 15) << (sub % 2 === 0 ? 0 : 4))
        fifth[i] = (fifth[i] ?? 0) | ((value >> 4) << sub)
      }
      const wanted = q.map((value, at) => {
        const [a, b] = [d * (scale[at >> 5] ?? 0) * value, dmin * (minimum[at >> 5] ?? 0)]
        return { value: a - b, terms: Math.abs(a) + Math.abs(b) }
      })
      const head = [...f16(d), ...f16(dmin), ...packed]
      const bytes = Uint8Array.from(fiveBits ? [...head, ...fifth, ...nibbles] : [...head, ...nibbles])
      expectNear(decode(fiveBits ? 'Q5_K' : 'Q4_K', bytes), wanted)
    },
  )

  test.prop([
    halfFloat,
    fc.array(fc.integer({ min: -128, max: 127 }), { minLength: 16, maxLength: 16 }),
    quants(256, 6),
  ])('of Q6_K decodes to d * scale * (q - 32)', (d, scale, q) => {
    const low = new Uint8Array(128)
    const high = new Uint8Array(64)
    for (const [at, value] of q.entries()) {
      const half = at >> 7
      const [quarter, i] = [(at & 127) >> 5, at & 31]
      const byte = 64 * half + 32 * (quarter % 2) + i
      low[byte] = (low[byte] ?? 0) | ((value & 15) << (quarter < 2 ? 0 : 4))
      high[32 * half + i] = (high[32 * half + i] ?? 0) | ((value >> 4) << (2 * quarter))
    }
    const wanted = q.map((value, at) => {
      const exact = d * (scale[at >> 4] ?? 0) * (value - 32)
      return { value: exact, terms: Math.abs(exact) }
    })
    const bytes = Uint8Array.from([...low, ...high, ...scale.map((value) => value & 255), ...f16(d)])
    expectNear(decode('Q6_K', bytes), wanted)
  })

  test.prop([halfFloat, quants(32, 8)])('of Q8_0 is the f32 nearest to the product', (d, q) => {
    const signed = q.map((value) => value - 128)
    const bytes = Uint8Array.from([...f16(d), ...signed.map((value) => value & 255)])
    expect([...decode('Q8_0', bytes)]).toEqual(signed.map((value) => Math.fround(d * value)))
  })
})

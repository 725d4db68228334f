import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fc, test } from '@fast-check/vitest'
import { afterAll, describe, expect, it } from 'vitest'
import { readSafetensorsHeader, readTensorF32, writeSafetensors } from '../../../models/safetensors.ts'
import { encodeBf16, encodeF16 } from '../../../src/tensor/half.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-safetensors-'))
afterAll(() => rmSync(folder, { recursive: true }))

let count = 0
function freshPath(): string {
  count += 1
  return join(folder, `${count}.safetensors`)
}

/** A file with this header text and this many zero bytes of data; `announced` overrides the header length. */
function fileWith(header: string, dataBytes: number, announced = Buffer.byteLength(header)): string {
  const path = freshPath()
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(announced))
  writeFileSync(path, Buffer.concat([length, Buffer.from(header), Buffer.alloc(dataBytes)]))
  return path
}

function tensorHeader(...offsets: readonly (readonly [number, number])[]): string {
  return JSON.stringify(
    Object.fromEntries(offsets.map((pair, i) => [`t${i}`, { dtype: 'F32', shape: [2], data_offsets: pair }])),
  )
}

const code = (name: string, text: RegExp) =>
  expect.objectContaining({ code: name, message: expect.stringMatching(text) })

describe('a written file', () => {
  test.prop([
    fc.array(fc.array(fc.float({ noNaN: true }), { maxLength: 9 }), { maxLength: 5 }),
    fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
  ])('reads back with the same names, shapes, values and metadata', (values, metadata) => {
    const path = freshPath()
    const tensors = values.map((row, i) => ({ name: `é"${i}`, shape: [row.length], data: Float32Array.from(row) }))
    writeSafetensors(path, tensors, metadata)
    const header = readSafetensorsHeader(path)
    expect(Object.entries(header.metadata).sort()).toEqual(Object.entries(metadata).sort())
    expect([...header.tensors.keys()]).toEqual(tensors.map((tensor) => tensor.name))
    for (const tensor of tensors) {
      const info = header.tensors.get(tensor.name)
      if (info === undefined) throw new Error('lost')
      expect(info.shape).toEqual(tensor.shape)
      expect(readTensorF32(path, info)).toEqual(tensor.data)
    }
  })

  it('is the same byte for byte when written again', () => {
    const tensors = [{ name: 'a', shape: [1, 2], data: Float32Array.of(1, 2) }]
    const [first, second] = [freshPath(), freshPath()]
    writeSafetensors(first, tensors, { k: 'v' })
    writeSafetensors(second, tensors, { k: 'v' })
    expect(readFileSync(first).equals(readFileSync(second))).toBe(true)
  })

  it('has the layout of the format: length, header, aligned data', () => {
    const path = freshPath()
    writeSafetensors(path, [{ name: 'w', shape: [2], data: Float32Array.of(1, -2) }], {})
    const bytes = readFileSync(path)
    const headerBytes = Number(bytes.readBigUInt64LE(0))
    expect(JSON.parse(bytes.toString('utf8', 8, 8 + headerBytes))).toEqual({
      w: { dtype: 'F32', shape: [2], data_offsets: [0, 8] },
    })
    expect(headerBytes % 8).toBe(0)
    expect([bytes.readFloatLE(8 + headerBytes), bytes.readFloatLE(12 + headerBytes)]).toEqual([1, -2])
  })

  it('holds half-precision tensors that widen exactly', () => {
    const path = freshPath()
    const values = Float32Array.of(1.5, -0.25, 96)
    writeSafetensors(
      path,
      [
        { name: 'half', shape: [3], data: encodeF16(values), dtype: 'F16' },
        { name: 'brain', shape: [3, 1], data: encodeBf16(values), dtype: 'BF16' },
      ],
      {},
    )
    for (const info of readSafetensorsHeader(path).tensors.values()) expect(readTensorF32(path, info)).toEqual(values)
  })
})

describe('a bad file', () => {
  it('is missing', () => {
    expect(() => readSafetensorsHeader(join(folder, 'none.safetensors'))).toThrow(
      code('safetensors-missing', /none\.safetensors \(ENOENT\)/),
    )
  })

  it('is shorter than the length field', () => {
    const path = freshPath()
    writeFileSync(path, 'abc')
    expect(() => readSafetensorsHeader(path)).toThrow(code('safetensors-truncated', /3 bytes long/))
  })

  it('announces a header larger than the file, up to the largest u64', () => {
    expect(() => readSafetensorsHeader(fileWith('{}', 0, 3))).toThrow(
      code('safetensors-header-invalid', /header of 3 bytes .* 10 bytes long/),
    )
    const path = freshPath()
    writeFileSync(path, Buffer.alloc(64, 0xff))
    expect(() => readSafetensorsHeader(path)).toThrow(code('safetensors-header-invalid', /1844674407370955\d+ bytes/))
  })

  it.each([
    'not json',
    '[]',
    'null',
    '{"a":1}',
    '{"__metadata__":{"k":1}}',
    '{"a":{"dtype":"F31","shape":[],"data_offsets":[0,4]}}',
    '{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}',
    '{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}}',
  ])('has the header %s', (header) => {
    expect(() => readSafetensorsHeader(fileWith(header, 4))).toThrow(
      code('safetensors-header-invalid', /header|tensor|metadata/),
    )
  })

  it('lost its last bytes', () => {
    const path = fileWith(tensorHeader([0, 8], [8, 16]), 16)
    expect(readSafetensorsHeader(path).tensors.size).toBe(2)
    truncateSync(path, readFileSync(path).length - 3)
    expect(() => readSafetensorsHeader(path)).toThrow(code('safetensors-truncated', /13 bytes .* needs 16/))
  })

  it('was cut after its header had been read', () => {
    const path = fileWith(tensorHeader([0, 8]), 8)
    const info = readSafetensorsHeader(path).tensors.get('t0')
    if (info === undefined) throw new Error('lost')
    truncateSync(path, info.offset + 4)
    expect(() => readTensorF32(path, info)).toThrow(code('safetensors-truncated', /4 bytes early/))
  })

  it.each([
    ['a negative offset', [[-8, 0]], /two integers/],
    ['begin after end', [[8, 0]], /two integers/],
    ['a size that contradicts shape and dtype', [[0, 12]], /takes 12 bytes .* but 8/],
    [
      'an overlap',
      [
        [0, 8],
        [4, 12],
      ],
      /overlap/,
    ],
    [
      'a hole, which also catches offsets past the end',
      [
        [0, 8],
        [1000, 1008],
      ],
      /hole/,
    ],
    ['bytes that no tensor names', [[0, 8]], /names only 8/],
  ] as const)('has offsets with %s', (_, offsets, text) => {
    expect(() => readSafetensorsHeader(fileWith(tensorHeader(...offsets), 16))).toThrow(
      code('safetensors-offset-invalid', text),
    )
  })

  it('holds integers where weights are needed', () => {
    const path = fileWith('{"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}}', 4)
    const info = readSafetensorsHeader(path).tensors.get('a')
    if (info === undefined) throw new Error('lost')
    expect(() => readTensorF32(path, info)).toThrow(code('tensor-mismatch', /I32/))
  })
})

describe('a hostile header', () => {
  const entry = '{"dtype":"F32","shape":[1],"data_offsets":[0,4]}'

  it.each([
    ['a tensor twice', `{"a":${entry},"b":${entry},"a":${entry}}`, /names "a" twice/],
    ['a tensor twice, spelled differently', `{"a":${entry},"\\u0061":${entry}}`, /names "a" twice/],
    ['a dtype twice', '{"a":{"dtype":"F32","dtype":"F16","shape":[1],"data_offsets":[0,4]}}', /names "dtype" twice/],
    ['depth', `{"a":${'['.repeat(1000)}${']'.repeat(1000)}}`, /nested deeper than 3/],
    ['nine dimensions', `{"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}}`, /has shape/],
    ['a size with a fraction', '{"a":{"dtype":"F32","shape":[0.5,2],"data_offsets":[0,4]}}', /has shape \[0\.5,2\]/],
    ['a size above 2^53', '{"a":{"dtype":"F32","shape":[1e300],"data_offsets":[0,4]}}', /has shape \[1e\+300\]/],
    ['a dtype that is an object property', '{"a":{"dtype":"toString","shape":[1],"data_offsets":[0,4]}}', /toString/],
  ])('with %s is refused', (_, header, text) => {
    expect(() => readSafetensorsHeader(fileWith(header, 4))).toThrow(code('safetensors-header-invalid', text))
  })

  it.each([
    ['[-4,0]', 'negative'],
    ['[0,1e30]', 'above 2^53'],
    ['[0,4,4]', 'three'],
    ['"04"', 'text'],
  ])('with data_offsets %s (%s) is refused', (offsets) => {
    const header = `{"a":{"dtype":"F32","shape":[1],"data_offsets":${offsets}}}`
    expect(() => readSafetensorsHeader(fileWith(header, 4))).toThrow(
      code('safetensors-offset-invalid', /two integers 0 <= begin <= end/),
    )
  })

  it('of 100 MB is refused before it is read', () => {
    const path = fileWith('{}', 0, 100_000_000)
    truncateSync(path, 100_000_008)
    const before = process.memoryUsage().external
    expect(() => readSafetensorsHeader(path)).toThrow(code('safetensors-header-invalid', /limit is 32000000/))
    expect(process.memoryUsage().external - before).toBeLessThan(1e6)
  })

  it('of half a million tensors and more is refused', () => {
    const many = Array.from({ length: 500_001 }, (_, i) => `"${i}":0`).join()
    expect(() => readSafetensorsHeader(fileWith(`{${many}}`, 0))).toThrow(
      code('safetensors-header-invalid', /more than 500000 entries/),
    )
  })
})

describe('a file larger than 4 GiB', () => {
  it('has tensors of more than 2 GiB and offsets beyond 4 GiB, read by position', () => {
    const path = freshPath()
    const gib = 2 ** 30
    const [first, second] = [3 * gib, 5 * gib + 8]
    const header = JSON.stringify({
      large: { dtype: 'F16', shape: [gib / 2, 3], data_offsets: [0, first] },
      larger: { dtype: 'U8', shape: [second - first], data_offsets: [first, second] },
      last: { dtype: 'F32', shape: [2], data_offsets: [second, second + 8] },
    })
    const length = Buffer.alloc(8)
    length.writeBigUInt64LE(BigInt(header.length))
    writeFileSync(path, Buffer.concat([length, Buffer.from(header)]))
    truncateSync(path, 8 + header.length + second + 8)
    const file = openSync(path, 'r+')
    const values = Float32Array.of(1.5, -2)
    writeSync(file, new Uint8Array(values.buffer), 0, 8, 8 + header.length + second)
    closeSync(file)
    const { tensors } = readSafetensorsHeader(path)
    expect(tensors.get('large')?.sizeBytes).toBe(3 * gib)
    const last = tensors.get('last')
    if (last === undefined) throw new Error('lost')
    expect(last.offset).toBeGreaterThan(5 * gib)
    expect(readTensorF32(path, last)).toEqual(values)
    rmSync(path)
  })
})

describe('writing', () => {
  it('reports a full disk by name', () => {
    expect(() => writeSafetensors('/dev/full', [{ name: 'a', shape: [1], data: Float32Array.of(1) }], {})).toThrow(
      code('disk-full', /free some space/),
    )
  })

  it('refuses a shape that does not fit the data', () => {
    expect(() => writeSafetensors(freshPath(), [{ name: 'a', shape: [2], data: Float32Array.of(1) }], {})).toThrow(
      code('invariant', /shape 2/),
    )
  })
})

import { deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readImageSize } from '../../../src/compaction/image-size.ts'
import { countMedia, MEDIUM_TOKENS } from '../../../src/compaction/media-tokens.ts'
import type { Media } from '../../../src/protocol/media.ts'

const base64 = (bytes: readonly number[]): string => Buffer.from(bytes).toString('base64')
const bigEndian = (value: number): readonly number[] => [
  value >>> 24,
  (value >>> 16) & 255,
  (value >>> 8) & 255,
  value & 255,
]

/** Signature and header chunk of a PNG, then any number of pixel bytes. */
function png(width: number, height: number, bulk = 0): string {
  const head = [137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, ...bigEndian(width), ...bigEndian(height)]
  return Buffer.concat([Buffer.from(head), deflateSync(Buffer.alloc(bulk, 7)), Buffer.alloc(bulk)]).toString('base64')
}

const image = (data: string, more: Partial<Media> = {}): Media => ({
  kind: 'image',
  mimeType: 'image/png',
  source: { kind: 'base64', data },
  ...more,
})

describe('readImageSize', () => {
  it('reads PNG, GIF, JPEG and WebP headers', () => {
    expect(readImageSize(png(640, 480))).toEqual({ width: 640, height: 480 })
    expect(readImageSize(base64([71, 73, 70, 56, 57, 97, 10, 0, 20, 0]))).toEqual({ width: 10, height: 20 })
    const jpeg = [255, 216, 255, 224, 0, 4, 1, 2, 255, 192, 0, 17, 8, 0, 30, 0, 40, 3, 0, 0]
    expect(readImageSize(base64(jpeg))).toEqual({ width: 40, height: 30 })
    const webp = [...Buffer.from('RIFF0000WEBPVP8X'), 10, 0, 0, 0, 0, 0, 0, 0, 99, 0, 0, 49, 0, 0]
    expect(readImageSize(base64(webp))).toEqual({ width: 100, height: 50 })
  })
  it.each(['', 'AAAA', png(0, 5), png(70_000, 5), base64([255, 216, 255, 224, 255, 255, 0, 0, 0, 0, 0, 0])])(
    'says null for what is no image of a possible size: %s',
    (data) => {
      expect(readImageSize(data)).toBeNull()
    },
  )
})

describe('countMedia', () => {
  it('depends on the pixels and not on the bytes', () => {
    for (const format of ['anthropic-messages', 'openai-chat'] as const)
      expect(countMedia(image(png(800, 600, 100_000)), format)).toBe(countMedia(image(png(800, 600)), format))
  })
  it("follows Anthropic's rule: width times height over 750, long edge 1,568", () => {
    expect(countMedia(image(png(1092, 1092)), 'anthropic-messages')).toBe(1590)
    expect(countMedia(image(png(200, 200)), 'anthropic-messages')).toBe(54)
    expect(countMedia(image(png(3136, 1568)), 'anthropic-messages')).toBe(Math.ceil((1568 * 784) / 750))
  })
  it("follows OpenAI's rule: 85 and 170 per tile of 512", () => {
    expect(countMedia(image(png(1024, 1024)), 'openai-chat')).toBe(765)
    expect(countMedia(image(png(2048, 4096)), 'openai-chat')).toBe(1105)
    expect(countMedia(image(png(2048, 4096), { detail: 'low' }), 'openai-chat')).toBe(85)
  })
  it('counts what it cannot measure as one medium', () => {
    expect(countMedia(image('not an image'), 'openai-chat')).toBe(MEDIUM_TOKENS)
    expect(countMedia({ kind: 'file', mimeType: null, source: { kind: 'id', id: 'f' } }, 'openai-chat')).toBe(
      MEDIUM_TOKENS,
    )
  })
})

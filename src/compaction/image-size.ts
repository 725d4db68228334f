/**
 * Width and height from the first bytes of a base64 image: PNG, GIF, JPEG, WebP. Pure.
 */

/** JPEG keeps its frame header behind metadata of up to 64 KiB a segment; this much covers photos from cameras. */
const HEAD_CHARS = 262_144

/** Larger sides are no image that a model sees: the bytes were not what they seemed. */
const MAX_SIDE = 65_535

/** Pixels; null for another kind, or bytes that are no image. */
export function readImageSize(base64: string): { readonly width: number; readonly height: number } | null {
  const bytes = Buffer.from(base64.slice(0, HEAD_CHARS), 'base64')
  const size = readPng(bytes) ?? readGif(bytes) ?? readWebp(bytes) ?? readJpeg(bytes)
  if (size === null || size.width < 1 || size.height < 1 || size.width > MAX_SIDE || size.height > MAX_SIDE) return null
  return size
}

function readPng(bytes: Buffer) {
  if (bytes.length < 24 || bytes.readUInt32BE(0) !== 0x89504e47 || bytes.toString('latin1', 12, 16) !== 'IHDR')
    return null
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

function readGif(bytes: Buffer) {
  if (bytes.length < 10 || !/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))) return null
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
}

function readWebp(bytes: Buffer) {
  if (bytes.length < 30 || bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP')
    return null
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) }
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21)
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) }
    }
    default:
      return null
  }
}

/** Walks the segments to the start of frame (C0-CF but for the tables C4, C8 and CC). */
function readJpeg(bytes: Buffer) {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return null
    const marker = bytes[at + 1] ?? 0
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2)
  }
  return null
}

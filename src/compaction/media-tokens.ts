/**
 * What an image or another medium costs, by its kind and size and never by the length of its base64 text (../shared/cases
 * 22). Pure. Estimates: rules as the providers document them, 2026-11.
 */
import { FORMATS } from '../protocol/formats.ts'
import type { HistoryFormat } from '../protocol/history.ts'
import type { Media } from '../protocol/media.ts'
import { readImageSize } from './image-size.ts'

/** A medium whose size is not known: an upper-range image at common sizes. Assumption. */
export const MEDIUM_TOKENS = 1600

/** Anthropic: width x height / 750 after shrinking to a long edge of 1,568 pixels. */
const ANTHROPIC_LONG_EDGE = 1568
const ANTHROPIC_PIXELS_PER_TOKEN = 750

/** OpenAI: 85 at low detail, else 170 per 512-pixel tile more, after shrinking to 2,048 and to a short edge of 768. */
const OPENAI_BASE = 85
const OPENAI_PER_TILE = 170

/** Gemini: 258 up to 384 pixels on both sides, else 258 per 768-pixel tile. */
const GEMINI_PER_TILE = 258

type Pixels = { readonly width: number; readonly height: number }

/** Tokens, at least 1. */
export function countMedia(media: Media, format: HistoryFormat): number {
  if (media.kind !== 'image') return MEDIUM_TOKENS
  const family = FORMATS[format].imageTokens
  if (family === 'openai' && media.detail === 'low') return OPENAI_BASE
  const size = media.source.kind === 'base64' ? readImageSize(media.source.data) : null
  if (size === null) return MEDIUM_TOKENS
  switch (family) {
    case 'anthropic':
      return anthropicTokens(size)
    case 'openai':
      return openAiTokens(size)
    case 'gemini':
      return geminiTokens(size)
    default:
      return family satisfies never
  }
}

function anthropicTokens(size: Pixels): number {
  const { width, height } = shrink(size, ANTHROPIC_LONG_EDGE / Math.max(size.width, size.height))
  return Math.max(1, Math.ceil((width * height) / ANTHROPIC_PIXELS_PER_TOKEN))
}

function openAiTokens(size: Pixels): number {
  const whole = shrink(size, 2048 / Math.max(size.width, size.height))
  const { width, height } = shrink(whole, 768 / Math.min(whole.width, whole.height))
  return OPENAI_BASE + OPENAI_PER_TILE * Math.ceil(width / 512) * Math.ceil(height / 512)
}

function geminiTokens({ width, height }: Pixels): number {
  if (width <= 384 && height <= 384) return GEMINI_PER_TILE
  return GEMINI_PER_TILE * Math.ceil(width / 768) * Math.ceil(height / 768)
}

function shrink({ width, height }: Pixels, factor: number): Pixels {
  const by = Math.min(1, factor)
  return { width: width * by, height: height * by }
}

/**
 * An image, audio or a file inside a message, whatever the provider. Pure. Reading one from a message: read-media.ts.
 */

export type MediaKind = 'image' | 'audio' | 'video' | 'file'

export interface Media {
  readonly kind: MediaKind
  readonly mimeType: string | null
  readonly source:
    | { readonly kind: 'base64'; readonly data: string }
    | { readonly kind: 'url'; readonly url: string }
    | { readonly kind: 'id'; readonly id: string }
  /** OpenAI's resolution switch. */
  readonly detail?: string
}

/** The bracketed kind that stands in text for a medium, as describeOpaque has it. */
export function describeMedia({ kind }: Media): string {
  return `[${kind}]`
}

/** Its address, or its data as a data URL; null for a provider's own file id. */
export function mediaUrl(media: Media): string | null {
  const { source } = media
  if (source.kind === 'url') return source.url
  return source.kind === 'base64' ? `data:${mediaType(media)};base64,${source.data}` : null
}

/** As given, else by the first bytes of the data (providers compare), else the commonest of its kind. */
export function mediaType({ kind, mimeType, source }: Media): string {
  if (mimeType !== null) return mimeType
  const { data } = source.kind === 'base64' ? source : { data: '' }
  const found = kind === 'audio' ? undefined : SIGNATURES.find(([start]) => data.startsWith(start))
  return found?.[1] ?? DEFAULT_MIME_TYPE[kind]
}

/** Of files, in base64. */
const SIGNATURES: readonly (readonly [start: string, mimeType: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi', 'application/pdf'],
]

const DEFAULT_MIME_TYPE: Readonly<Record<MediaKind, string>> = {
  image: 'image/png',
  audio: 'audio/wav',
  video: 'video/mp4',
  file: 'application/pdf',
}

/** What a content part of an AI SDK model message looks like, and that of no other chat format. Pure. */
import { isObject } from './json-value.ts'

export function isAiSdkPart(part: unknown): boolean {
  if (!isObject(part)) return false
  switch (part.type) {
    case 'tool-call':
    case 'tool-result':
    case 'tool-approval-request':
    case 'tool-approval-response':
      return true
    case 'image':
      return 'image' in part
    case 'file':
      return 'data' in part && ('mediaType' in part || 'mimeType' in part)
    default:
      // A text or a reasoning could be anyone's, but for the options of the provider behind it.
      return isObject(part.providerOptions) || isObject(part.providerMetadata)
  }
}

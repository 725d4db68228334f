/**
 * The output of an AI SDK tool result: `{type, value}` since version 5, a bare value in `result` before. Pure.
 */
import { flattenContent } from '../flatten-content.ts'
import type { JsonValue } from '../history.ts'
import type { Media } from '../media.ts'
import { minifyJson, scanJson } from '../scan-json.ts'
import { isObject, type JsonObject } from '../segment.ts'

export interface ToolOutput {
  readonly content: string
  readonly isError: boolean
  readonly media: readonly Media[]
}

/** @param raw the part's own JSON text: a JSON output is given as it is spelled there, without white space */
export function readToolOutput(part: JsonObject, raw: string): ToolOutput {
  const { output } = part
  if (!isObject(output) || typeof output.type !== 'string') {
    const field = output === undefined ? 'result' : 'output'
    return { content: valueText(part[field], raw, [field]), isError: part.isError === true, media: [] }
  }
  switch (output.type) {
    case 'content': {
      const { text, media } = flattenContent(output.value)
      return { content: text, isError: false, media }
    }
    case 'execution-denied': {
      const { reason } = output
      return { content: typeof reason === 'string' ? reason : '[execution denied]', isError: true, media: [] }
    }
    default:
      return {
        content: valueText(output.value, raw, ['output', 'value']),
        isError: output.type.startsWith('error-'),
        media: [],
      }
  }
}

function valueText(value: JsonValue | undefined, raw: string, path: readonly string[]): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  let node = scanJson(raw, { keepDepth: path.length })
  for (const step of path) node = node.members.get(step) ?? node
  return minifyJson(raw.slice(node.start, node.end))
}

/**
 * What a function response says: the API wants an object, clients put the tool's own output into it in their own way. Pure.
 */
import { flattenContent } from '../flatten-content.ts'
import type { JsonValue } from '../history.ts'
import { describeMedia, type Media } from '../media.ts'
import { readMedia } from '../read-media.ts'
import { minifyJson, scanJson } from '../scan-json.ts'
import { isObject, type JsonObject } from '../segment.ts'

export interface FunctionOutput {
  readonly content: string
  readonly isError: boolean
  readonly media: readonly Media[]
}

/** Members that hold the whole output when nothing else stands beside them: documented, and as the SDKs write them. */
const OUTPUT_FIELDS = ['output', 'error', 'result']

/**
 * `{output}`, `{result}` and `{error}` give their value (a string as it is, else its JSON text), `{content: [...]}` of an
 * MCP tool its blocks, any other object its own JSON text. `error` that says something marks the result as one.
 * @param part the part's own text and the key of the function response in it
 */
export function readFunctionResponse(
  answer: JsonObject,
  part: { readonly raw: string; readonly key: string },
): FunctionOutput {
  const { response } = answer
  const { text, isError } = isObject(response)
    ? readObject(response, part)
    : { text: plainText(response), isError: false }
  const blocks = isObject(response) && Array.isArray(response.content) ? flattenContent(response.content).media : []
  const parts = Array.isArray(answer.parts) ? answer.parts.map(readMedia).filter((media) => media !== null) : []
  const content = [text, ...parts.map(describeMedia)].filter((line) => line !== '').join('\n')
  return { content, isError, media: [...blocks, ...parts] }
}

function readObject(
  response: JsonObject,
  part: { readonly raw: string; readonly key: string },
): { readonly text: string; readonly isError: boolean } {
  const { error } = response
  const failed = error !== undefined && error !== null && error !== '' && error !== false
  const isError = failed || response.isError === true
  const keys = Object.keys(response).filter((key) => response[key] !== null && !(key === 'error' && !failed))
  const [only] = keys
  if (Array.isArray(response.content) && keys.every((key) => MCP_FIELDS.includes(key)))
    return { text: flattenContent(response.content).text, isError }
  const whole = scanJson(part.raw, { keepDepth: 3 }).members.get(part.key)?.members.get('response')
  const field = keys.length === 1 && only !== undefined && OUTPUT_FIELDS.includes(only) ? only : null
  const value = field === null ? response : (response[field] ?? null)
  if (typeof value === 'string') return { text: value, isError }
  const node = field === null ? whole : whole?.members.get(field)
  const text = node === undefined ? JSON.stringify(value) : minifyJson(part.raw.slice(node.start, node.end))
  return { text: field === null && text === '{}' ? '' : text, isError }
}

const MCP_FIELDS = ['content', 'isError', 'structuredContent', '_meta']

/** No object, which the API refuses (G6): a reader still sees what it says. */
function plainText(response: JsonValue | undefined): string {
  if (typeof response === 'string') return response
  return response === undefined || response === null ? '' : JSON.stringify(response)
}

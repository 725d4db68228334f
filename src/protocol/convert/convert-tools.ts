/**
 * Declarations of the tools that the client runs, from one provider's form to another's. Pure.
 * Tools that a provider runs itself exist there alone: they are named as losses.
 */
import type { HistoryFormat, JsonValue } from '../history.ts'
import { isObject, type JsonObject } from '../segment.ts'

/** A function with a JSON schema for its arguments. */
interface ToolDeclaration {
  readonly name: string
  readonly description: string | null
  readonly parameters: JsonObject
}

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} }

/** A tool that takes free text: its calls are converted to {"input": text}. */
const FREE_TEXT: JsonObject = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }

export interface ConvertedTools {
  /** Null: nothing to declare. */
  readonly tools: JsonValue | null
  readonly losses: readonly string[]
}

/** @param tools the request's own `tools` */
export function convertTools(
  tools: JsonValue | undefined,
  { from, to }: { readonly from: HistoryFormat; readonly to: HistoryFormat },
): ConvertedTools {
  const losses: string[] = []
  const declared = entriesOf(tools, from).flatMap(({ name, value }): readonly ToolDeclaration[] => {
    const tool = readTool(value, name)
    if (tool === null) losses.push(`the declaration of ${describe(value, name)}: its provider runs it`)
    return tool === null ? [] : [tool]
  })
  return { tools: declared.length === 0 ? null : writeTools(declared, to), losses }
}

interface Entry {
  /** Key of the entry where tools are a map. */
  readonly name: string | null
  readonly value: JsonValue
}

function entriesOf(tools: JsonValue | undefined, from: HistoryFormat): readonly Entry[] {
  if (isObject(tools)) return Object.entries(tools).map(([name, value]) => ({ name, value }))
  if (!Array.isArray(tools)) return []
  const list = tools as readonly JsonValue[]
  if (from !== 'gemini-contents') return list.map((value) => ({ name: null, value }))
  return list.flatMap((group): readonly Entry[] => {
    const functions = isObject(group) ? (group.functionDeclarations ?? group.function_declarations) : undefined
    const values: readonly JsonValue[] = Array.isArray(functions) ? functions : [group]
    return values.map((value) => ({ name: null, value }))
  })
}

/** Null for a tool of the provider's own. */
function readTool(value: JsonValue, key: string | null): ToolDeclaration | null {
  if (!isObject(value)) return null
  const body = [value.function, value.custom].find((inner) => isObject(inner)) ?? value
  const name = key ?? body.name
  const { type } = value
  const isFunction =
    type === undefined || type === null || type === 'function' || type === 'custom' || type === 'dynamic'
  if (typeof name !== 'string' || !isFunction) return null
  const schema = schemaOf(body)
  return {
    name,
    description: typeof body.description === 'string' ? body.description : null,
    parameters: schema ?? (type === 'custom' ? FREE_TEXT : NO_PARAMETERS),
  }
}

function schemaOf(body: JsonObject): JsonObject | null {
  for (const field of ['input_schema', 'inputSchema', 'parametersJsonSchema', 'parameters_json_schema', 'parameters']) {
    const found = body[field]
    if (!isObject(found)) continue
    // The AI SDK's jsonSchema() wraps the schema.
    const schema = isObject(found.jsonSchema) ? found.jsonSchema : found
    return field === 'parameters' ? lowerCaseTypes(schema) : schema
  }
  return null
}

/** Gemini's own schema dialect spells JSON schema types in capitals. */
function lowerCaseTypes(schema: JsonObject): JsonObject {
  const lower = (value: JsonValue, key: string): JsonValue => {
    if (key === 'type' && typeof value === 'string' && /^[A-Z]+$/.test(value)) return value.toLowerCase()
    if (Array.isArray(value)) return (value as readonly JsonValue[]).map((element) => lower(element, ''))
    return isObject(value) ? lowerCaseTypes(value) : value
  }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, lower(value, key)]))
}

function describe(value: JsonValue, name: string | null): string {
  const body = isObject(value) ? value : {}
  const known = name ?? body.name ?? body.type ?? Object.keys(body)[0]
  return typeof known === 'string' ? `the tool ${known.slice(0, 64)}` : 'a tool'
}

function writeTools(tools: readonly ToolDeclaration[], to: HistoryFormat): JsonValue {
  const described = ({ description }: ToolDeclaration): JsonObject => (description === null ? {} : { description })
  switch (to) {
    case 'openai-chat':
      return tools.map((tool) => ({
        type: 'function',
        function: { name: tool.name, ...described(tool), parameters: tool.parameters },
      }))
    case 'openai-responses':
      return tools.map((tool) => ({
        type: 'function',
        name: tool.name,
        ...described(tool),
        parameters: tool.parameters,
        // The default is true there, and refuses schemas that were written without it in mind.
        strict: false,
      }))
    case 'anthropic-messages':
      return tools.map((tool) => ({ name: tool.name, ...described(tool), input_schema: tool.parameters }))
    case 'gemini-contents':
      return [
        {
          functionDeclarations: tools.map((tool) => ({
            name: tool.name,
            ...described(tool),
            parametersJsonSchema: tool.parameters,
          })),
        },
      ]
    case 'ai-sdk':
      return Object.fromEntries(tools.map((tool) => [tool.name, { ...described(tool), inputSchema: tool.parameters }]))
    default:
      return to satisfies never
  }
}

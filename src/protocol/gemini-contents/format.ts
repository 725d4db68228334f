/** Gemini generateContent. */
import type { MessageRole } from '../history.ts'
import type { JsonPath } from '../json-pointer.ts'
import type { ProviderFormat } from '../provider-format.ts'
import { readNamedRole } from '../read-named-role.ts'
import { loneSurrogateRule } from '../rules/lone-surrogates.ts'
import { isObject, type JsonObject } from '../segment.ts'
import { GEMINI_CONTENT_RULES } from './content-rules.ts'
import { GEMINI_EDITS } from './edits.ts'
import { GEMINI_PAIRING_RULES } from './pairing-rules.ts'
import { partField } from './part-field.ts'
import { readGeminiSegments } from './segments.ts'
import { writeGeminiContents } from './write.ts'

const ROLES: Readonly<Record<string, MessageRole>> = {
  user: 'user',
  model: 'assistant',
  function: 'user',
  tool: 'user',
}

const userMessage = (text: string): JsonObject => ({ role: 'user', parts: [{ text }] })

/**
 * Responses stand in a content of role user (or function, as older clients write it), alone or beside human text: what it
 * holds says whose it is, not its role. A content without a role is the user's (single-turn requests).
 */
function readRole(value: JsonObject, path: JsonPath): MessageRole {
  const { role } = value
  const named =
    role === undefined || role === null
      ? 'user'
      : readNamedRole(value, path, { format: 'gemini-contents', roles: ROLES })
  if (named !== 'user' || !Array.isArray(value.parts) || value.parts.length === 0) return named
  const isAnswer = value.parts.every((part) => isObject(part) && partField(part, 'functionResponse') !== null)
  return isAnswer ? 'tool' : 'user'
}

/** Some loggers split one model turn over several contents, hence runs (reference/formats.md). */
export const geminiContents: ProviderFormat = {
  name: 'gemini-contents',
  noun: 'contents',
  // `history`: chats of the SDK, checkpoints of Gemini CLI.
  listFields: ['contents', 'history'],
  blockField: 'parts',
  systemField: 'systemInstruction',
  systemAliases: ['system_instruction'],
  modelCall: 'run',
  batch: 'run',
  readRole,
  readSegments: readGeminiSegments,
  rules: [...GEMINI_PAIRING_RULES, ...GEMINI_CONTENT_RULES, loneSurrogateRule('gemini-contents', userMessage)],
  imageTokens: 'gemini',
  userMessage,
  edits: GEMINI_EDITS,
  write: writeGeminiContents,
}

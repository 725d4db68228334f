/**
 * Random histories as JSON text, of every format, valid and not: parallel calls, reused ids, missing and foreign results,
 * user turns anywhere, empty contents, unicode, odd spellings of JSON. Each format's own file makes its own.
 */
import fc from 'fast-check'
import type { HistoryFormat } from '../../../src/protocol/history.ts'
import { arbitraryAiSdk } from './arbitrary-ai-sdk.ts'
import { arbitraryAnthropicMessages } from './arbitrary-anthropic-messages.ts'
import { arbitraryGeminiContents } from './arbitrary-gemini-contents.ts'
import { arbitraryOpenAiChat } from './arbitrary-openai-chat.ts'
import { arbitraryOpenAiResponses } from './arbitrary-openai-responses.ts'
import type { ArbitraryFormat, GivenHistory } from './given-history.ts'

export const ARBITRARY_FORMATS: Readonly<Record<HistoryFormat, ArbitraryFormat>> = {
  'openai-chat': arbitraryOpenAiChat,
  'anthropic-messages': arbitraryAnthropicMessages,
  'openai-responses': arbitraryOpenAiResponses,
  'gemini-contents': arbitraryGeminiContents,
  'ai-sdk': arbitraryAiSdk,
}
const ALL = Object.values(ARBITRARY_FORMATS)

/** Any history: may break rules. */
export const anyHistory: fc.Arbitrary<GivenHistory> = fc.oneof(...ALL.map(({ any }) => any))

/** Valid but for advisory findings. */
export const validHistory: fc.Arbitrary<GivenHistory> = fc.oneof(...ALL.map(({ valid }) => valid))

/**
 * Random histories as JSON text, of every format, valid and not: parallel calls, reused ids, missing and foreign results,
 * user turns anywhere, empty contents, unicode, odd spellings of JSON. Each format's own file makes its own.
 */
import fc from 'fast-check'
import { arbitraryAiSdk } from './arbitrary-ai-sdk.ts'
import { arbitraryAnthropicMessages } from './arbitrary-anthropic-messages.ts'
import { arbitraryGeminiContents } from './arbitrary-gemini-contents.ts'
import { arbitraryOpenAiChat } from './arbitrary-openai-chat.ts'
import { arbitraryOpenAiResponses } from './arbitrary-openai-responses.ts'
import type { ArbitraryFormat, GivenHistory } from './given-history.ts'

const ALL: readonly ArbitraryFormat[] = [
  arbitraryOpenAiChat,
  arbitraryAnthropicMessages,
  arbitraryOpenAiResponses,
  arbitraryGeminiContents,
  arbitraryAiSdk,
]

/** Any history: may break rules. */
export const anyHistory: fc.Arbitrary<GivenHistory> = fc.oneof(...ALL.map(({ any }) => any))

/** Valid but for advisory findings. */
export const validHistory: fc.Arbitrary<GivenHistory> = fc.oneof(...ALL.map(({ valid }) => valid))

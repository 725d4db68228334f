/** All importers, in the order in which they are named to people. */
import { anthropicMessages } from './anthropic-messages.ts'
import { claudeCode } from './claude-code.ts'
import type { Importer } from './importer.ts'
import { openAiChat } from './openai-chat.ts'
import { pi } from './pi.ts'
import { sweAgent } from './swe-agent.ts'
import { tauBench } from './tau-bench.ts'
import { whoAndWhen } from './who-and-when.ts'

export const IMPORTERS: readonly Importer[] = [
  tauBench,
  openAiChat,
  anthropicMessages,
  pi,
  whoAndWhen,
  sweAgent,
  claudeCode,
]

/** All importers, in the order in which they are named to people. */
import { aiSdk } from './ai-sdk.ts'
import { aiSdkUi } from './ai-sdk-ui.ts'
import { anthropicMessages } from './anthropic-messages.ts'
import { atif } from './atif.ts'
import { browserGym } from './browsergym.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { curie } from './curie.ts'
import { geminiCli } from './gemini-cli.ts'
import { geminiContents } from './gemini-contents.ts'
import { googleAdk } from './google-adk.ts'
import type { Importer } from './importer.ts'
import { inspectAi } from './inspect-ai.ts'
import { langChain } from './langchain.ts'
import { langGraph } from './langgraph.ts'
import { langSmith } from './langsmith.ts'
import { liveMcpBench } from './livemcpbench.ts'
import { miniSweAgent } from './mini-swe-agent.ts'
import { openAiChat } from './openai-chat.ts'
import { openAiResponses } from './openai-responses.ts'
import { openHands } from './openhands.ts'
import { openHandsStudy } from './openhands-study.ts'
import { pi } from './pi.ts'
import { specStory } from './specstory.ts'
import { superNotebook } from './super-notebook.ts'
import { sweAgent } from './swe-agent.ts'
import { tapeAgents } from './tapeagents.ts'
import { tauBench } from './tau-bench.ts'
import { whoAndWhen } from './who-and-when.ts'

export const IMPORTERS: readonly Importer[] = [
  tauBench,
  openAiChat,
  openAiResponses,
  anthropicMessages,
  geminiContents,
  aiSdk,
  aiSdkUi,
  pi,
  whoAndWhen,
  sweAgent,
  claudeCode,
  codex,
  geminiCli,
  specStory,
  browserGym,
  superNotebook,
  openHandsStudy,
  tapeAgents,
  langGraph,
  liveMcpBench,
  curie,
  openHands,
  atif,
  googleAdk,
  miniSweAgent,
  inspectAi,
  langChain,
  langSmith,
]

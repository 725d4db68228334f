/** Every family there is. The golden suite runs over models/families of ../shared, the oracle over this list. */
import type { Family } from './family.ts'
import { gemma2 } from './gemma2.ts'
import { gemma3 } from './gemma3.ts'
import { granite } from './granite.ts'
import { llama } from './llama.ts'
import { mistral } from './mistral.ts'
import { olmo2 } from './olmo2.ts'
import { olmo3 } from './olmo3.ts'
import { phi3 } from './phi3.ts'
import { qwen2 } from './qwen2.ts'
import { qwen3, qwen3Moe } from './qwen3.ts'
import { qwen35, qwen35Moe } from './qwen3-5.ts'
import { qwen3Next } from './qwen3-next.ts'
import { smollm3 } from './smollm3.ts'

export const FAMILIES: readonly Family[] = [
  llama,
  mistral,
  qwen2,
  qwen3,
  qwen3Moe,
  qwen3Next,
  qwen35,
  qwen35Moe,
  smollm3,
  granite,
  olmo2,
  olmo3,
  phi3,
  gemma2,
  gemma3,
]

export const SUPPORTED_ARCHITECTURES: readonly string[] = FAMILIES.flatMap((family) => family.architectures)

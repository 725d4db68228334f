/**
 * The prompts in use, under one version: it names the annotator and is part of every cache key.
 */
import { createHash } from 'node:crypto'
import { REPAIR_V1_SAMPLE, repairTextV1 } from './repair.v1.ts'
import { STAGE_ONE_V1 } from './stage-one.v1.ts'
import { STAGE_TWO_V1 } from './stage-two.v1.ts'

export const PROMPTS = {
  version: 'v1',
  stageOne: STAGE_ONE_V1,
  stageTwo: STAGE_TWO_V1,
  repair: repairTextV1,
} as const

/** SHA-256 of all prompt texts: tells an edited prompt that kept its version. */
export const PROMPTS_SHA256 = createHash('sha256')
  .update(JSON.stringify([PROMPTS.version, STAGE_ONE_V1, STAGE_TWO_V1, REPAIR_V1_SAMPLE]))
  .digest('hex')

/** Name that label rows carry. */
export function llmAnnotatorName(model: string): string {
  return `llm:${model}:${PROMPTS.version}`
}

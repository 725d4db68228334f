/**
 * What the annotator sends, as it is read by a model. Labels carry the prompt version alone, so a prompt must not change
 * under its version.
 */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { callKey } from '../../../data/annotate/llm/call-key.ts'
import { DEFAULT_LIMITS } from '../../../data/annotate/llm/limits.ts'
import { planRun } from '../../../data/annotate/llm/plan-run.ts'
import { PROMPTS, PROMPTS_SHA256 } from '../../../data/annotate/llm/prompts/prompts.ts'
import { buildRepair } from '../../../data/annotate/llm/repair-request.ts'
import type { StageOneRecord } from '../../../data/annotate/llm/stage-one.schema.ts'
import { type BuiltRequest, buildStageOne } from '../../../data/annotate/llm/stage-one-request.ts'
import { buildStageTwo } from '../../../data/annotate/llm/stage-two-request.ts'
import { FIRST_DIALECT, requestBody } from '../../../models/chat/dialect.ts'
import { countActingTokens as count } from '../../../models/tokenizer/acting-tokens.ts'
import { repairTrajectory } from '../../fakes/trajectories.ts'

const HINT =
  'a prompt was edited: write it as a new version beside the old one and raise PROMPTS.version, then pin that'

const run = repairTrajectory()
const plan = planRun({ original: run, sent: run }, { checkpoints: [4], limits: DEFAULT_LIMITS, count })
const layout = plan.layout ?? failed()

const RECORD: StageOneRecord = {
  interaction: 1,
  taskProgress: 'the failing sum is found',
  observationComplexity: 'high',
  nextNeeds: 'nothing',
  remainingUtility: 'low',
  evidence: [{ interaction: 2, quote: 'The sum in src/cart.js looks wrong.' }],
  futureDependency: { interaction: 5, quote: 'npm ci && npm test' },
  judgement: 'READY',
  reason: 'the failing file is known',
}
const stageOne = buildStageOne(layout, { checkpoint: 4, targets: [0, 1, 2], limits: DEFAULT_LIMITS })
const stageTwo = buildStageTwo(run, layout, {
  target: 1,
  records: [
    { checkpoint: 3, record: null },
    { checkpoint: 4, record: RECORD },
  ],
  limits: DEFAULT_LIMITS,
})
const repair = buildRepair(stageOne, {
  outcome: { kind: 'text', text: '{"records": []}' },
  problems: ['all of them: there is no record for it'],
  wanted: '"records" for the targets 0, 1, 2',
  count,
})

function text(built: BuiltRequest): string {
  return built.request.messages
    .slice(1)
    .map(({ role, content }) => `---- ${role}\n${content}`)
    .join('')
}

describe('the requests of the llm annotator', () => {
  it.each([
    ['stage-one', stageOne],
    ['stage-two', stageTwo],
    ['repair', repair],
  ] as const)('%s reads as tests/golden/annotate has it', async (name, built) => {
    await expect(text(built), HINT).toMatchFileSnapshot(`${name}.txt`)
    expect(built.request.messages[0]?.content).toBe(name === 'stage-two' ? PROMPTS.stageTwo : PROMPTS.stageOne)
  })

  it('keep the texts of version v1', () => {
    expect([PROMPTS.version, PROMPTS_SHA256], HINT).toEqual([
      'v1',
      '64772e8c6d7768854d380e095bd53c15ac360aae2884b0334c03cf684f8f2c8f',
    ])
  })

  it('have bodies and cache keys that do not change by themselves', () => {
    const body = requestBody(stageOne.request, { model: 'm', stream: true, dialect: FIRST_DIALECT })
    expect(createHash('sha256').update(JSON.stringify(body)).digest('hex')).toBe(
      'cf2000e513d6d38b19f90a3112919401403646e32e35827fdf55bc58ae804d1a',
    )
    expect([stageOne, stageTwo, repair].map(({ request }) => callKey('m', request).slice(0, 16))).toEqual([
      '9ccb574f273cdc2e',
      'fa17f83ac25e4e6f',
      'ca31d78e731fd0ed',
    ])
  })

  it('hold the model to a schema in the strict subset: all properties required, no other, no bounds', () => {
    for (const { request } of [stageOne, stageTwo]) {
      const objects = objectSchemas(request.answer?.schema)
      expect(objects.length).toBeGreaterThanOrEqual(3)
      for (const schema of objects) {
        expect(schema.additionalProperties).toBe(false)
        expect(schema.required).toEqual(Object.keys(schema.properties))
      }
      expect(JSON.stringify(request.answer?.schema)).not.toMatch(/minimum|maximum|\$schema/)
    }
  })
})

interface ObjectSchema {
  readonly additionalProperties: unknown
  readonly required: unknown
  readonly properties: object
}

function objectSchemas(schema: unknown): readonly ObjectSchema[] {
  if (typeof schema !== 'object' || schema === null) return []
  const inside = Object.values(schema).flatMap(objectSchemas)
  return 'type' in schema && schema.type === 'object' ? [schema as unknown as ObjectSchema, ...inside] : inside
}

function failed(): never {
  throw new Error('the fixture fits')
}

/**
 * Train/serve parity (issue 3: p equal to 1e-5 for 50 pairs), over two paths that share no data:
 *   trainer: log files -> importer -> dataset on disk -> batches with standardised blocks -> training engine, unfolded weights
 *   server:  raw messages up to the checkpoint -> HTTP -> history thread -> model process -> artefact with folded weights
 * The pairs are the final model's validation pairs, whose logits the trainer computed while training.
 */
import { setMaxListeners } from 'node:events'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseServerConfig } from '../../server/config.schema.ts'
import { type RunningServer, startServer } from '../../server/main.ts'
import { scoreResponse } from '../../server/wire/responses.schema.ts'
import { createRng } from '../../src/rng.ts'
import { sigmoid } from '../../src/router/decide.ts'
import { RECIPE_NAMES, type RecentWindow, type RecipeName } from '../../src/view/recipe.ts'
import { requestBody } from '../fixtures/chat-logs.ts'
import { type TinyRouter, trainTinyRouter } from '../fixtures/train-tiny-router.ts'

const PAIRS = 50
const QUICK_PAIRS = 20
/** Issue 3, "It is right when": on p. */
const TOLERANCE = 1e-5

interface TrainerPair {
  readonly trajectory: number
  readonly checkpoint: number
  readonly interaction: number
  readonly p: number
}

/** Pairs of every validation trajectory in turn, at seeded checkpoints. */
function drawPairs({ dataset, final }: TinyRouter, count: number): readonly TrainerPair[] {
  const { pairs, logits } = final.validationPredictions
  const all = pairs.map(
    (pair, k): TrainerPair => ({
      trajectory: dataset.pairs.trajectory[pair] ?? -1,
      checkpoint: dataset.pairs.checkpoint[pair] ?? -1,
      interaction: dataset.pairs.interaction[pair] ?? -1,
      p: sigmoid(logits[k] ?? Number.NaN),
    }),
  )
  const rng = createRng(7)
  const keyed = all.map((pair) => ({ pair, key: rng.nextUint32() })).sort((a, b) => a.key - b.key)
  return keyed.slice(0, count).map(({ pair }) => pair)
}

/** The messages an agent would hold when it is about to make interaction `checkpoint`. */
function bodyAt(router: TinyRouter, { trajectory, checkpoint }: TrainerPair): string {
  const log = router.logs[trajectory]
  const next = router.trajectories[trajectory]?.interactions[checkpoint]
  if (log === undefined || next?.source.index === undefined) throw new Error(`no interaction ${checkpoint} in the log`)
  return requestBody(log, next.source.index)
}

/** The others are trained on less, through a single layer. */
const WHOLE: readonly RecipeName[] = ['once', 'shared-first']

/** Every recipe, and windows that grow: their sections are cut into several runs. */
const CASES: readonly (readonly [RecipeName, RecentWindow])[] = [
  ...RECIPE_NAMES.map((name) => [name, 'fixed'] as const),
  ['once', 'growing'],
  ['shared-first', 'growing'],
]

/** A folder for each router is removed when the process ends. */
setMaxListeners(30, process)

describe.each(CASES)('a served router of recipe %s, window %s', (recipe, window) => {
  const quick = !WHOLE.includes(recipe)
  const count = quick ? QUICK_PAIRS : PAIRS
  let router: TinyRouter
  let server: RunningServer
  beforeAll(async () => {
    router = await trainTinyRouter({ inputs: 'hidden+evidence', recipe, window, quick })
    server = await startServer({
      config: parseServerConfig({ flags: { router: router.directory, port: 0 }, environment: {}, file: {} }),
      logger: pino({ level: 'silent' }),
      nowMs: () => performance.now(),
      version: '0.0.0',
      caches: { hub: '/nowhere', keepready: '/nowhere' },
    })
  }, 240_000)
  afterAll(() => server.close())

  it(`gives the trainer's p for ${count} (history, target) pairs of both formats`, async () => {
    const pairs = drawPairs(router, count)
    expect(pairs).toHaveLength(count)
    expect(new Set(pairs.map(({ trajectory }) => router.logs[trajectory]?.format)).size).toBe(2)
    expect(Math.max(...pairs.map(({ p }) => p)) - Math.min(...pairs.map(({ p }) => p))).toBeGreaterThan(
      quick ? 0.02 : 0.3,
    )
    const answers = new Map<string, ReturnType<typeof scoreResponse.parse>>()
    let worst = 0
    for (const pair of pairs) {
      const body = bodyAt(router, pair)
      const score = answers.get(body) ?? (await postScore(server.url, body))
      answers.set(body, score)
      expect(score.checkpoint).toBe(pair.checkpoint)
      const served = score.interactions.find((item) => item.interaction === pair.interaction)
      worst = Math.max(worst, Math.abs((served?.p ?? Number.NaN) - pair.p))
      expect(worst, JSON.stringify({ ...pair, served: served?.p })).toBeLessThanOrEqual(TOLERANCE)
    }
    expect(answers.size).toBeGreaterThan(quick ? 3 : 10)
    // Runs of one task share its head, at least.
    expect(server.status().prefixSavedTokens).toBeGreaterThan(0)
  })
})

async function postScore(url: string, body: string): Promise<ReturnType<typeof scoreResponse.parse>> {
  const response = await fetch(`${url}/v1/score`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  expect(response.status, await response.clone().text()).toBe(200)
  return scoreResponse.parse(await response.json())
}

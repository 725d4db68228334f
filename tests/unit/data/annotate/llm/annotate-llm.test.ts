import { describe, expect, it } from 'vitest'
import { annotateLineage } from '../../../../../data/annotate/lineage.ts'
import { countFailures } from '../../../../../data/annotate/llm/failure.ts'
import { annotateWith } from '../../../../fixtures/annotate-with.ts'
import { annotatedRun, RIGHT_BOUNDARIES } from '../../../../fixtures/annotated-runs.ts'
import { rightAnswer } from '../../../../fixtures/annotation-oracle.ts'
import { callsTool, cutAfter, refuses, says, status } from '../../../../fixtures/chat-server.ts'

const run = annotatedRun('run-a')
const runs = [run, annotatedRun('run-b', 'other')]

function boundaries(result: Awaited<ReturnType<typeof annotateWith>>): readonly (readonly (number | null)[])[] {
  return result.rows.map((row) => row.labels.map((label) => label.boundary))
}

describe('the llm annotator with a model that is right', () => {
  it('gives the labels the model has, one call a checkpoint and one an interaction with a proposal', async () => {
    const result = await annotateWith(runs, () => null)
    expect(boundaries(result)).toEqual([RIGHT_BOUNDARIES, RIGHT_BOUNDARIES])
    expect(result.rows[0]).toMatchObject({ annotator: 'llm:oracle:v1', interactionCount: 7, trajectory: 'run-a' })
    expect(result.rows[0]?.labels[0]?.evidence).toEqual(annotateLineage(run).labels[0]?.evidence)
    expect(result.server.requests).toHaveLength(2 * (5 + 2))
    expect(result.tallies[0]).toMatchObject({ records: 15, ready: 5, keep: 10, verdicts: 2, recordFailures: [] })
    expect(result.counters).toMatchObject({ asked: 14, fromJournal: 0, unanswered: 0 })
  })

  it('asks nothing twice with the same journal', async () => {
    const first = await annotateWith(runs, () => null)
    const again = await annotateWith(runs, () => null, { journalPath: first.journalPath })
    expect(again.rows).toEqual(first.rows)
    expect(again.server.requests).toHaveLength(0)
    expect(again.counters).toMatchObject({ asked: 0, fromJournal: 14 })
  })

  it('puts a boundary between sampled checkpoints at the next sampled one', async () => {
    const sampled = { checkpointsOf: () => [2, 6] }
    const oracle = await annotateWith(
      [run],
      (asked) => {
        if (asked.stage === 1) return null
        const answer = rightAnswer(asked)
        return says(
          JSON.stringify({ ...answer, boundary: 6, rechecks: [{ checkpoint: 6, supported: true, reason: 'x' }] }),
        )
      },
      sampled,
    )
    expect(boundaries(oracle)[0]).toEqual([6, null, 6, null, null, null, null])
  })
})

describe('an answer that is wrong', () => {
  it('is repaired in one round that names what was wrong and asks for the failed records alone', async () => {
    const repairs: string[] = []
    const result = await annotateWith([run], (asked) => {
      if (asked.repair !== null) repairs.push(asked.repair)
      if (asked.stage === 2 || asked.checkpoint !== 5 || asked.repair !== null) return null
      const text = JSON.stringify(rightAnswer(asked)).replace('"quote":"first_word"', '"quote":"never said so"')
      return says(`Here it is:\n\`\`\`json\n${text}\n\`\`\`\n`)
    })
    expect(boundaries(result)[0]).toEqual(RIGHT_BOUNDARIES)
    expect(repairs).toHaveLength(1)
    expect(repairs[0]).toMatch(/target 0: evidence: interaction 1: the quote "never said so" does not stand in it/)
    expect(repairs[0]).toMatch(/"records" for target 0,/)
    expect(result.tallies[0]).toMatchObject({ repairsAsked: 1, repairsDone: 1, recordFailures: [] })
  })

  it.each([
    ['false-quote', (text: string) => text.replace('"first_word"', '"never said so"')],
    ['misplaced-evidence', (text: string) => text.replace('"interaction":1,"quote"', '"interaction":5,"quote"')],
    ['misplaced-evidence', (text: string) => text.replace('"interaction":1,"quote"', '"interaction":77,"quote"')],
    ['weak-quote', (text: string) => text.replace('"quote":"first_word"', '"quote":"take"')],
    ['no-evidence', (text: string) => text.replace(/"evidence":\[\{[^\]]*\]/, '"evidence":[]')],
    ['inconsistent', (text: string) => text.replace('"none"', '"high"')],
    ['wrong-shape', (text: string) => text.replace('"READY"', '"perhaps"')],
    ['missing-record', (text: string) => text.replace('"interaction":0', '"interaction":90')],
    ['no-json', () => 'I would say it is ready.'],
    ['no-json', () => '{"records": "none"}'],
  ] as const)('twice leaves its record unresolved: %s', async (code, spoil) => {
    const result = await annotateWith([run], (asked) =>
      asked.stage === 1 && asked.checkpoint === 4 ? says(spoil(JSON.stringify(rightAnswer(asked)))) : null,
    )
    // Unresolved at 4 is no proposal at 4: the oracle's boundary 4 is refused, in stage 2 too.
    expect(boundaries(result)[0]?.[0]).toBeNull()
    expect(new Set(result.tallies[0]?.recordFailures)).toEqual(new Set([code]))
    expect(result.tallies[0]?.verdictFailures).toEqual(['boundary-not-proposed'])
  })

  it.each([
    ['refusal', refuses('No.'), 0],
    ['tool-call', callsTool('bash'), 1],
    ['max-tokens', says('{"records": [{"interac', { finish: 'length' }), 1],
  ] as const)('of the kind %s is KEEP and counted', async (code, behaviour, repairs) => {
    const result = await annotateWith([run], (asked) => (asked.stage === 1 ? behaviour : null))
    expect(boundaries(result)[0]).toEqual(run.interactions.map(() => null))
    expect(countFailures(result.tallies[0]?.recordFailures ?? [])).toEqual({ [code]: 15 })
    expect(result.tallies[0]).toMatchObject({ repairsAsked: 5 * repairs, repairsDone: 0, verdicts: 0 })
    expect(result.rows[0]?.labels[0]?.reason).toBe('unresolved in stage 1: none of 5 records valid')
  })

  it('cut at its limit keeps the records that were whole, and is asked for the rest', async () => {
    const asked: (readonly number[])[] = []
    const result = await annotateWith([run], (question) => {
      if (question.stage === 2 || question.checkpoint !== 6) return null
      asked.push(question.targets)
      if (question.repair !== null) return null
      const text = JSON.stringify(rightAnswer(question))
      return says(text.slice(0, text.indexOf('"interaction":2') + 40), { finish: 'length' })
    })
    expect(asked).toEqual([
      [0, 1, 2, 3, 4],
      [2, 3, 4],
    ])
    expect(boundaries(result)[0]).toEqual(RIGHT_BOUNDARIES)
  })

  it('that proposes READY while naming a future use is no boundary: the future vetoes', async () => {
    const result = await annotateWith([run], (asked) => {
      if (asked.stage === 2 || asked.checkpoint > 5) return null
      const { records } = rightAnswer(asked) as { records: Record<string, unknown>[] }
      const spoilt = records.map((record) =>
        record.judgement === 'READY'
          ? { ...record, future_dependency: { interaction: 5, quote: 'I check both.' } }
          : record,
      )
      return says(JSON.stringify({ records: spoilt }))
    })
    expect(result.tallies[0]).toMatchObject({ recordFailures: [], ready: 5 })
    expect(result.tallies[0]?.verdictFailures).toEqual(['boundary-vetoed', 'boundary-vetoed'])
    expect(boundaries(result)[0]).toEqual(run.interactions.map(() => null))
  })
})

describe('an endpoint that fails', () => {
  it('for some calls leaves their targets KEEP, and a later run asks those alone', async () => {
    const broken = await annotateWith([run], (asked) =>
      asked.stage === 1 && asked.checkpoint === 4 ? cutAfter('{"re') : null,
    )
    expect(broken.counters).toMatchObject({ unanswered: 1, lostAttempts: 3, retries: 2 })
    expect(broken.tallies[0]?.recordFailures).toEqual(['unanswered', 'unanswered', 'unanswered'])
    const mended = await annotateWith([run], () => null, { journalPath: broken.journalPath })
    expect(mended.server.requests.length).toBeLessThanOrEqual(3)
    expect(boundaries(mended)[0]).toEqual(RIGHT_BOUNDARIES)
  })

  it('for five calls in a row ends the work with an error', async () => {
    const ended = annotateWith(runs, () => status(503))
    await expect(ended).rejects.toMatchObject({ code: 'endpoint-unreachable', message: /HTTP 503/ })
  })

  it('by refusing the key ends the work at the first answer', async () => {
    let requests = 0
    const ended = annotateWith(runs, () => {
      requests += 1
      return status(401, 'wrong key')
    })
    await expect(ended).rejects.toMatchObject({ code: 'endpoint-refused' })
    expect(requests).toBeLessThanOrEqual(3)
  })

  it('by a context that is too short says which option to change', async () => {
    const ended = annotateWith(runs, () => status(400, 'maximum context length is 100 tokens'))
    await expect(ended).rejects.toMatchObject({ code: 'endpoint-refused', message: /--context-tokens/ })
  })
})

describe('a budget', () => {
  const prices = { input: 10, cachedInput: 10, output: 10, date: null }
  const usage = { prompt_tokens: 1000, completion_tokens: 1000 }
  const dear = (asked: Parameters<typeof rightAnswer>[0]): ReturnType<typeof says> =>
    says(JSON.stringify(rightAnswer(asked)), { usage })

  it('is never passed, finishes whole runs first, and goes on where it stopped', async () => {
    // A call costs 0.02 and at worst about 0.1: seven calls are a run.
    const stopped = await annotateWith(runs, dear, { prices, budgetUsd: 0.28 })
    expect(stopped.spentUsd).toBeLessThanOrEqual(0.28)
    expect(stopped.rows.map((row) => row.trajectory)).toEqual(['run-a'])
    expect(stopped.unfinished).toEqual(['run-b'])
    const { journalPath } = stopped
    const more = await annotateWith(runs, dear, { prices, budgetUsd: 1, journalPath })
    expect(boundaries(more)).toEqual([RIGHT_BOUNDARIES, RIGHT_BOUNDARIES])
    expect(more.counters.asked + stopped.counters.asked).toBe(14)
    expect(more.spentUsd).toBeCloseTo(14 * 0.02, 9)
  })

  it('of less than one call sends nothing', async () => {
    const stopped = await annotateWith(runs, dear, { prices, budgetUsd: 0.001 })
    expect(stopped.server.requests).toHaveLength(0)
    expect(stopped.rows).toEqual([])
    expect(stopped.unfinished).toEqual(['run-a', 'run-b'])
  })
})

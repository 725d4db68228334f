/**
 * All runs through the two stages: plans, asks, collects rows, and says what was done. Reads and writes no files but the
 * journal it is given.
 */
import type { ChatModel, ChatOutcome } from '../../../models/chat/port.ts'
import type { LabelRow } from '../label-record.ts'
import { type AnnotatedRun, annotateRun, type RunTally } from './annotate-run.ts'
import { type CallCounters, createAsker } from './asker.ts'
import { createCallSlots } from './call-slots.ts'
import type { CountTokens } from './clip-text.ts'
import type { Journal } from './journal.ts'
import type { CallLimits } from './limits.ts'
import { planRun } from './plan-run.ts'
import { costOf, type Prices } from './prices.ts'
import { llmAnnotatorName } from './prompts/prompts.ts'
import type { RunText } from './run-text.ts'
import { createSpending } from './spending.ts'
import type { BuiltRequest } from './stage-one-request.ts'

export interface AnnotateLlmOptions {
  readonly runs: readonly RunText[]
  readonly chat: ChatModel
  readonly journal: Journal
  /** Checkpoints of a run that are judged, ascending. */
  readonly checkpointsOf: (run: RunText) => readonly number[]
  readonly limits: CallLimits
  readonly concurrency: number
  readonly prices: Prices | null
  /** US dollars for this journal in all; null: no limit. */
  readonly budgetUsd: number | null
  readonly count: CountTokens
  readonly signal: AbortSignal
  readonly onProgress: (progress: LlmProgress) => void
}

export interface LlmProgress {
  readonly callsDone: number
  readonly runsDone: number
  readonly retries: number
  readonly spentUsd: number
}

export interface LlmResult {
  /** Of the runs all of whose calls are done, in the order of the runs. */
  readonly rows: readonly LabelRow[]
  readonly tallies: readonly RunTally[]
  /** Runs that the budget left unfinished. */
  readonly unfinished: readonly string[]
  readonly counters: CallCounters
  /** US dollars, earlier runs of the journal included. */
  readonly spentUsd: number
}

/** @throws endpoint-refused, endpoint-unreachable, disk-full, interrupted: the journal holds what was answered */
export async function annotateLlm(options: AnnotateLlmOptions): Promise<LlmResult> {
  const { runs, chat, journal, limits, concurrency, prices, count, onProgress } = options
  const earlierUsd = prices === null ? 0 : journal.earlier.reduce((sum, entry) => sum + costOf(entry.usage, prices), 0)
  const spending = createSpending(options.budgetUsd, earlierUsd)
  const failure = new AbortController()
  let callsDone = 0
  let runsDone = 0
  const report = (): void =>
    onProgress({ callsDone, runsDone, retries: asker.counters().retries, spentUsd: spending.spentUsd() })
  const asker = createAsker({
    chat,
    journal,
    slots: createCallSlots(concurrency),
    spending,
    prices,
    count,
    signal: AbortSignal.any([options.signal, failure.signal]),
    onAnswer: () => {
      callsDone += 1
      report()
    },
  })

  /** One call that fails for good ends the others at once: they would fail, or cost, for nothing. */
  const askOrStopAll = async (call: BuiltRequest, rank: number): Promise<ChatOutcome | null> => {
    try {
      return await asker.ask(call, rank)
    } catch (thrown) {
      failure.abort(thrown)
      throw thrown
    }
  }

  const results = new Array<AnnotatedRun | null>(runs.length).fill(null)
  let next = 0
  /** As many runs as calls at a time: short runs have few calls, and slots go to the earliest run first. */
  const worker = async (): Promise<void> => {
    for (let at = next++; at < runs.length; at = next++) {
      const run = runs[at]
      if (run === undefined) return
      failure.signal.throwIfAborted()
      // Laying out a run is synchronous work: Ctrl-C and answers get their turn between two.
      await new Promise((resolve) => setImmediate(resolve))
      const plan = planRun(run, { checkpoints: options.checkpointsOf(run), limits, count })
      results[at] = await annotateRun(plan, {
        annotator: llmAnnotatorName(chat.model),
        limits,
        ask: (call) => askOrStopAll(call, at),
      })
      runsDone += 1
      report()
    }
  }
  const guarded = async (): Promise<void> => {
    try {
      await worker()
    } catch (thrown) {
      failure.abort(thrown)
      throw thrown
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: Math.min(concurrency, runs.length) }, guarded))
  const first = ended.find((result) => result.status === 'rejected')
  if (first !== undefined) throw failure.signal.reason

  const done = results.filter((result) => result !== null)
  return {
    rows: done.map(({ row }) => row),
    tallies: done.map(({ tally }) => tally),
    unfinished: runs.flatMap((run, at) => (results[at] === null ? [run.original.id] : [])),
    counters: asker.counters(),
    spentUsd: spending.spentUsd(),
  }
}

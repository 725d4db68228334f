/**
 * Asks calls: from the journal if their answer is there, else over the network, within the slots and the budget, and into
 * the journal before anyone sees the answer.
 */
import { type ChatModel, type ChatOutcome, type ChatUsage, isAnswer } from '../../../models/chat/port.ts'
import { AppError } from '../../../src/errors.ts'
import { callKey } from './call-key.ts'
import type { CallSlots } from './call-slots.ts'
import type { CountTokens } from './clip-text.ts'
import type { Journal } from './journal.ts'
import { mostTokens } from './limits.ts'
import { costOf, type Prices } from './prices.ts'
import type { Spending } from './spending.ts'
import type { BuiltRequest } from './stage-one-request.ts'

export interface CallCounters {
  /** Answers over the network in this run of the program, and from the journal. */
  readonly asked: number
  readonly fromJournal: number
  readonly retries: number
  /** Attempts that broke off inside an answer: billed, and asked again. */
  readonly lostAttempts: number
  /** Calls that ended without an answer. */
  readonly unanswered: number
  /** Of the answers asked for now. Lost attempts included, by our count. */
  readonly usage: ChatUsage
  /** Answers whose tokens the server did not tell: our count stands for them. */
  readonly uncounted: number
}

export interface Asker {
  /** @param rank of the run: earlier runs go first. null: the budget does not allow it. */
  ask(call: BuiltRequest, rank: number): Promise<ChatOutcome | null>
  counters(): CallCounters
}

export interface AskerOptions {
  readonly chat: ChatModel
  readonly journal: Journal
  readonly slots: CallSlots
  readonly spending: Spending
  /** null: nothing costs anything. */
  readonly prices: Prices | null
  readonly count: CountTokens
  readonly signal: AbortSignal
  readonly onAnswer: () => void
}

/** So many calls in a row without an answer: the endpoint is down, or wrong for these requests. */
const GIVE_UP_AFTER = 5

/** @throws (ask) endpoint-refused, endpoint-unreachable, disk-full, interrupted */
export function createAsker(options: AskerOptions): Asker {
  const { chat, journal, slots, spending, prices, signal, onAnswer } = options
  const counters = { asked: 0, fromJournal: 0, retries: 0, lostAttempts: 0, unanswered: 0, uncounted: 0 }
  const usage = { promptTokens: 0, cachedTokens: 0, outputTokens: 0 }
  /** Equal questions at the same time are one call. */
  const underWay = new Map<string, Promise<ChatOutcome | null>>()
  let failuresInRow = 0

  const dollars = (of: ChatUsage): number => (prices === null ? 0 : costOf(of, prices))
  const add = (of: ChatUsage): void => {
    usage.promptTokens += of.promptTokens
    usage.cachedTokens += of.cachedTokens
    usage.outputTokens += of.outputTokens
  }

  const overNetwork = async (call: BuiltRequest, key: string): Promise<ChatOutcome | null> => {
    const { request, promptTokens } = call
    const worst = dollars({
      promptTokens: mostTokens(promptTokens),
      cachedTokens: 0,
      outputTokens: request.maxOutputTokens,
    })
    if (!(await spending.reserve(worst))) return null
    let actual = 0
    try {
      const reply = await chat.ask(request, signal)
      counters.retries += reply.retries
      for (const { chars } of reply.lost) {
        const lost = { promptTokens, cachedTokens: 0, outputTokens: Math.ceil(chars / CHARS_PER_TOKEN) }
        counters.lostAttempts += 1
        add(lost)
        actual += dollars(lost)
        await journal.append({ kind: 'lost', key, usage: lost })
      }
      if (!isAnswer(reply.outcome)) {
        counters.unanswered += 1
        failuresInRow += 1
        if (failuresInRow >= GIVE_UP_AFTER) throw givenUp(chat, reply.outcome)
        return reply.outcome
      }
      failuresInRow = 0
      const answered = reply.usage ?? estimatedUsage(call, reply.outcome, options.count)
      add(answered)
      actual += dollars(answered)
      counters.asked += 1
      if (reply.usage === null) counters.uncounted += 1
      const counted = reply.usage !== null
      await journal.append({ kind: 'answer', key, outcome: reply.outcome, usage: answered, counted })
      onAnswer()
      return reply.outcome
    } finally {
      spending.settle(worst, actual)
    }
  }

  const askOnce = async (call: BuiltRequest, key: string, rank: number): Promise<ChatOutcome | null> => {
    const release = await slots.take(rank)
    try {
      signal.throwIfAborted()
      return await overNetwork(call, key)
    } finally {
      release()
    }
  }

  return {
    async ask(call, rank) {
      const key = callKey(chat.model, call.request)
      const known = journal.get(key)
      if (known !== undefined) {
        counters.fromJournal += 1
        onAnswer()
        return known.outcome
      }
      const same = underWay.get(key)
      if (same !== undefined) return same
      const asked = askOnce(call, key, rank).finally(() => underWay.delete(key))
      underWay.set(key, asked)
      return asked
    },
    counters: () => ({ ...counters, usage: { ...usage } }),
  }
}

/** Assumption, on the dear side: English is about four. */
const CHARS_PER_TOKEN = 3

function estimatedUsage(call: BuiltRequest, outcome: ChatOutcome, count: CountTokens): ChatUsage {
  const outputTokens = 'text' in outcome ? count(outcome.text) : 0
  return { promptTokens: call.promptTokens, cachedTokens: 0, outputTokens }
}

function givenUp(chat: ChatModel, outcome: ChatOutcome): AppError {
  const said = 'message' in outcome ? outcome.message : outcome.kind
  const where = `${chat.endpoint}: ${GIVE_UP_AFTER} calls in a row ended without an answer, the last with: ${said}`
  const details = { endpoint: chat.endpoint, outcome: outcome.kind }
  if (outcome.kind === 'unanswered')
    return new AppError(
      'endpoint-unreachable',
      `${where}; what came is in the journal: run the same command again later, or with fewer calls at a time`,
      { details },
    )
  const next =
    outcome.kind === 'too-long' ? 'lower --context-tokens to what the model takes' : 'correct the request options'
  return new AppError('endpoint-refused', `${where}; ${next}`, { details })
}

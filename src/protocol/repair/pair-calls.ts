/**
 * Pairs calls and results of a damaged history: like open-calls.ts, but a result also finds its call behind messages that
 * came between. Pure.
 */
import type { History } from '../history.ts'
import { type OpenCall, pairResult } from '../open-calls.ts'
import type { ProviderFormat } from '../provider-format.ts'
import type { CallSegment, ResultSegment, Segment } from '../segment.ts'

export interface PlacedResult {
  readonly message: number
  readonly segment: ResultSegment
}

export interface PairedCall {
  readonly message: number
  readonly segment: CallSegment
  result: PlacedResult | null
}

/** The calls of one assistant message, or of a run of them where results may answer any of the run. */
export interface CallBatch {
  readonly first: number
  last: number
  readonly calls: PairedCall[]
}

export interface StrayResult extends PlacedResult {
  readonly why: 'orphan' | 'duplicate'
}

export interface CallPairs {
  readonly batches: readonly CallBatch[]
  readonly strays: readonly StrayResult[]
}

/** @param options as ProviderFormat has them */
export function pairCalls(
  history: History,
  segments: readonly (readonly Segment[])[],
  options: Pick<ProviderFormat, 'batch' | 'modelCall'>,
): CallPairs {
  const batches: CallBatch[] = []
  const strays: StrayResult[] = []
  history.messages.forEach(({ role }, message) => {
    const row = segments[message] ?? []
    if (role === 'assistant') addCalls(batches, { message, row, batch: options.batch })
    for (const segment of row) {
      if (segment.kind !== 'result') continue
      const found = findCall(batches, segment, options)
      if (found === 'orphan' || found === 'duplicate') strays.push({ message, segment, why: found })
      else found.result = { message, segment }
    }
  })
  return { batches, strays }
}

function addCalls(
  batches: CallBatch[],
  given: { readonly message: number; readonly row: readonly Segment[]; readonly batch: 'message' | 'run' },
): void {
  const { message, row } = given
  const calls = row
    .filter((segment) => segment.kind === 'call')
    .map((segment): PairedCall => ({ message, segment, result: null }))
  const last = batches.at(-1)
  if (given.batch === 'run' && last?.last === message - 1) {
    last.last = message
    last.calls.push(...calls)
  } else batches.push({ first: message, last: message, calls })
}

/** The nearest batch decides that uses the result's id; far away, a position says nothing: id or name must be the call's. */
function findCall(
  batches: readonly CallBatch[],
  result: ResultSegment,
  { modelCall }: Pick<ProviderFormat, 'modelCall'>,
): PairedCall | 'orphan' | 'duplicate' {
  let isNearest = true
  for (let number = batches.length - 1; number >= 0; number--) {
    const calls = batches[number]?.calls ?? []
    if (calls.length === 0) continue
    const usesId = result.id !== null && calls.some(({ segment }) => segment.id === result.id)
    const open = calls.map((call): OpenCall & { readonly of: PairedCall } => ({
      owner: modelCall === 'run' ? 0 : call.message,
      call: call.segment,
      answered: call.result !== null,
      of: call,
    }))
    const pairing = pairResult(open, result)
    if (pairing.kind === 'duplicates') return 'duplicate'
    if (pairing.kind === 'answers' && (isNearest || usesId || pairing.call.call.name === result.name))
      return open.find((one) => one === pairing.call)?.of ?? 'orphan'
    isNearest = false
  }
  return 'orphan'
}

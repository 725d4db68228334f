/**
 * Spans: maximal runs of consecutive canonical interactions that survive raw, may be touched and are READY
 * (DESIGN section 10). Pure.
 */
import type { SplitHistory } from '../protocol/history.ts'

/** Canonical interactions [start, end). */
export interface SpanRange {
  readonly start: number
  readonly end: number
}

/**
 * @param ready canonical indices that the router (or the caller's labels) calls READY
 * @returns disjoint, in order; a user turn, pinned item, summary, ineligible or KEEP interaction ends a span
 */
export function findSpans(split: SplitHistory, ready: ReadonlySet<number>): readonly SpanRange[] {
  const spans: SpanRange[] = []
  let open: SpanRange | null = null
  const close = (): void => {
    if (open !== null) spans.push(open)
    open = null
  }
  for (const item of split.items) {
    if (item.kind !== 'interaction' || item.interaction.ineligible !== null || !ready.has(item.interaction.index)) {
      close()
      continue
    }
    const { index } = item.interaction
    if (open !== null && open.end !== index) close()
    open = { start: open === null ? index : open.start, end: index + 1 }
  }
  close()
  return spans
}

/**
 * The six lists of a summary (DESIGN section 10) and their text form. Pure.
 */

export const SUMMARY_LISTS = ['facts', 'constraints', 'locations', 'conclusions', 'failures', 'unresolved'] as const
export type SummaryList = (typeof SUMMARY_LISTS)[number]

/** One bullet of a list. */
export interface SummaryNote {
  readonly list: SummaryList
  readonly text: string
  /** Place in the source: notes of a list are printed in this order. */
  readonly order: number
}

/** Lists in their fixed order, each `name:` and one `- ` line per note; an empty list is left out. */
export function renderSummaryLists(notes: readonly SummaryNote[]): string {
  return SUMMARY_LISTS.map((list) => {
    const own = notes.filter((note) => note.list === list).sort((a, b) => a.order - b.order)
    return own.length === 0 ? '' : `${list}:\n${own.map((note) => `- ${note.text}`).join('\n')}`
  })
    .filter((text) => text !== '')
    .join('\n')
}

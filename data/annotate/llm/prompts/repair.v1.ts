/**
 * The one repair round of both stages, version 1: what was wrong, and what to send again. Never edited once labels were
 * made with it (see stage-one.v1.ts).
 */

/** Problems beyond this are not repeated to the model: it has the rule already. */
const MAX_PROBLEMS = 40

export function repairTextV1(repair: {
  /** One line each. */
  readonly problems: readonly string[]
  /** What to answer again, e.g. `records for the targets 3, 5`. */
  readonly wanted: string
}): string {
  const shown = repair.problems.slice(0, MAX_PROBLEMS)
  const more = repair.problems.length - shown.length
  return [
    'Your answer was checked by a program. These parts failed:',
    ...shown.map((problem) => `- ${problem}`),
    ...(more > 0 ? [`- and ${more} more of these kinds`] : []),
    '',
    `Answer again with one JSON object of the same form that holds ${repair.wanted}, corrected. Everything else of your answer was accepted and is not needed again.`,
    'Copy quotes character by character from the interaction you name. If you cannot find a literal quote that supports READY, judge KEEP (a boundary of null). This is the last round.',
    '',
  ].join('\n')
}

/** A fixed sample, so that the text of this file has a hash. */
export const REPAIR_V1_SAMPLE = repairTextV1({ problems: ['PROBLEM'], wanted: 'WANTED' })

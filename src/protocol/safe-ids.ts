/**
 * Tool-call ids that a provider accepts: the same for the same history, and as they were where they already are fine. Pure.
 */

export interface IdRules {
  readonly pattern: RegExp
  readonly maxChars: number
}

const UNSAFE = /[^a-zA-Z0-9_-]/g

export function isSafeId(id: string, { pattern, maxChars }: IdRules): boolean {
  return id.length <= maxChars && pattern.test(id)
}

/** An id made of `id` that the rules allow and that is not in `taken`: `bash:0` -> `bash_0`, then `bash_0_2`, `bash_0_3`. */
export function makeSafeId(id: string, rules: IdRules, taken: ReadonlySet<string>): string {
  const clean = isSafeId(id, { ...rules, maxChars: Number.POSITIVE_INFINITY }) ? id : id.replace(UNSAFE, '_')
  const base = clean === '' ? 'call' : clean
  for (let copy = 1; ; copy++) {
    const ending = copy === 1 ? '' : `_${copy}`
    const made = base.slice(0, rules.maxChars - ending.length) + ending
    if (!taken.has(made)) return made
  }
}

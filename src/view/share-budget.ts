/**
 * Divides a budget among texts: short ones whole, the long ones equally. Pure.
 */

/**
 * Max-min fair shares (water filling).
 *   wanted   tokens each text would take, >= 0
 *   budget   tokens, >= 0
 *   returns  share[k] <= wanted[k]; sum <= budget; a text that gets less than it wants gets no less than any other
 *            (ties of one leftover token go to earlier texts)
 */
export function shareBudget(wanted: readonly number[], budget: number): number[] {
  const order = wanted.map((_, k) => k).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0) || a - b)
  const shares = wanted.map(() => 0)
  let left = budget
  order.forEach((k, position) => {
    const share = Math.min(wanted[k] ?? 0, Math.floor(left / (order.length - position)))
    shares[k] = share
    left -= share
  })
  for (let k = 0; k < shares.length && left > 0; k++) {
    const more = Math.min(1, left, (wanted[k] ?? 0) - (shares[k] ?? 0))
    shares[k] = (shares[k] ?? 0) + more
    left -= more
  }
  return shares
}

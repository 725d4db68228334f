/**
 * One progress line per stage on stderr: redrawn on a terminal, a line every few seconds elsewhere; it ends with a figure.
 */
import type { CommandContext } from './command-context.ts'

const REDRAW_MS = 100
const PLAIN_LINE_MS = 5000

export interface Progress {
  /** @param amount total done so far, in `unit` */
  update(amount: number, note?: string): void
  /** Another total from here on: less, or more, turned out to be needed. */
  retarget(total: number): void
  /** Replaces the line by its final form. */
  done(figure: string): void
}

export function startProgress(
  context: CommandContext,
  options: { readonly stage: string; readonly total: number | null; readonly unit: string },
): Progress {
  const startMs = context.nowMs()
  let lastMs = context.interactive ? 0 : startMs
  let { total } = options
  const seconds = (): number => (context.nowMs() - startMs) / 1000
  const draw = (text: string, end: boolean): void => {
    if (context.interactive) context.writeErr(`\r\u001b[2K${text}${end ? '\n' : ''}`)
    else context.writeErr(`${text}\n`)
  }
  return {
    update(amount, note = '') {
      const now = context.nowMs()
      if (now - lastMs < (context.interactive ? REDRAW_MS : PLAIN_LINE_MS)) return
      lastMs = now
      const rate = amount / Math.max(seconds(), 1e-3)
      const share = total === null ? `${formatCount(amount)}` : `${formatCount(amount)}/${formatCount(total)}`
      const left = total === null || rate === 0 ? '' : `, ${formatDuration((total - amount) / rate)} left`
      draw(
        `${options.stage}: ${share} ${options.unit}, ${formatCount(rate)}/s${left}${note === '' ? '' : `, ${note}`}`,
        false,
      )
    },
    retarget(wanted) {
      total = wanted
    },
    done(figure) {
      draw(`${options.stage}: ${figure} (${seconds().toFixed(1)} s)`, true)
    },
  }
}

export function formatCount(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US')
  return Number.isInteger(value) ? String(value) : value.toFixed(1)
}

export function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  if (seconds < 5400) return `${Math.ceil(seconds / 60)} min`
  return `${(seconds / 3600).toFixed(1)} h`
}

/**
 * Half surrogate pairs in raw JSON text, escaped or not, become U+FFFD; no other character changes. Pure.
 */
import { jsonPointer, placeOf } from '../json-pointer.ts'
import type { Stage } from './stage.ts'
import { inputPointer, withRaw } from './working-list.ts'

export const mendSurrogates: Stage = ({ base, list, complaints }) => {
  const broken = new Set(
    complaints.violations.filter(({ rule }) => rule === 'A16').map(({ pointer }) => placeOf(pointer).index),
  )
  if (broken.size === 0) return { list, changes: [] }
  return {
    list: list.map((working, number) =>
      broken.has(number) ? withRaw(base, working, replaceLoneSurrogates(working.message.raw), number) : working,
    ),
    changes: [...broken].map((number) => ({
      rule: 'A16',
      pointer: inputPointer(base, list, jsonPointer([base.listField, number])),
      action: 'replaced',
      sentence: 'half of a surrogate pair was replaced by U+FFFD',
    })),
  }
}

interface Unit {
  readonly start: number
  readonly end: number
  readonly code: number
}

/** @param raw JSON text, whose strings may spell either half as itself or as a \u escape */
export function replaceLoneSurrogates(raw: string): string {
  let out = ''
  let from = 0
  let high: Unit | null = null
  const drop = (unit: Unit): void => {
    out += `${raw.slice(from, unit.start)}\ufffd`
    from = unit.end
  }
  for (let at = 0; at < raw.length; ) {
    const unit = unitAt(raw, at)
    at = unit.end
    const isLow = unit.code >= 0xdc00 && unit.code <= 0xdfff
    if (high !== null && !isLow) drop(high)
    if (high === null && isLow) drop(unit)
    high = unit.code >= 0xd800 && unit.code <= 0xdbff ? unit : null
  }
  if (high !== null) drop(high)
  return out + raw.slice(from)
}

/** One UTF-16 code unit of the text's strings: itself, a \u escape, or another escape, which is never a surrogate. */
function unitAt(raw: string, start: number): Unit {
  if (raw[start] !== '\\') return { start, end: start + 1, code: raw.charCodeAt(start) }
  if (raw[start + 1] !== 'u') return { start, end: start + 2, code: 0 }
  return { start, end: start + 6, code: Number.parseInt(raw.slice(start + 2, start + 6), 16) }
}

/**
 * The identity of a history: plans name the one they were made from. Pure.
 */
import { createHash } from 'node:crypto'
import type { History } from './history.ts'

/** sha256, hex, over format, system, tools and every message's raw slice, each with its length in front. */
export function hashHistory(history: History): string {
  const hash = createHash('sha256')
  const add = (text: string): void => {
    hash.update(`${Buffer.byteLength(text)}:`).update(text)
  }
  add(history.format)
  add(history.system?.raw ?? '')
  add(history.tools?.raw ?? '')
  for (const message of history.messages) add(message.raw)
  return hash.digest('hex')
}

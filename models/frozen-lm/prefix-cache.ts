/**
 * States of token prefixes that were computed before, above the LM's port: a prefix tree over token ids, kept flat. A
 * node's key (`viewKey`) is the hash of its parent's key and its own run of tokens, so a prefix is found only where it
 * was cut into the same runs: what is reused was computed in exactly the way in which it would be computed again, and
 * vectors are equal bit for bit with and without the cache, recurrent states included.
 *
 * Bounded in bytes; the longest unused go first, never one that is in use. With a bound of 0 nothing is kept and a lease
 * is a state that its user owns: with and without a cache the executor is the same.
 */
import { AppError } from '../../src/errors.ts'
import type { FrozenLm, StateHandle } from './port.ts'

/** A state in use. */
export interface StateLease {
  readonly state: StateHandle
  /** (hiddenSize) f32 of the prefix's last token; not to be written. */
  readonly hidden: Float32Array
  /** The user is done with the state. @throws invariant when called twice */
  release(): void
}

export interface PrefixCache {
  /** The state stored under the key, in use until released; null where none is. */
  lease(key: string): StateLease | null
  /**
   * Takes over a state that was just computed and leases it to the caller. It is kept for later if it fits beside the
   * states in use and none is stored under the key; else it lives as long as the lease.
   */
  store(key: string, computed: { readonly state: StateHandle; readonly hidden: Float32Array }): StateLease
  /** Disposes every state that is not in use; one that is goes with its lease. */
  clear(): void
  readonly entries: number
  /** At most the bound, always. */
  readonly sizeBytes: number
  /** States that made room for others, since the start. */
  readonly evictions: number
}

interface Entry {
  readonly state: StateHandle
  readonly hidden: Float32Array
  readonly costBytes: number
  users: number
  stored: boolean
}

/** Map entry, key, handle and array header, beside the state (estimate). */
const ENTRY_BYTES = 300

/** 256 MiB: a few states of 2,048 tokens of a 135 M-parameter model, or the task heads of a dozen sessions. */
export const DEFAULT_PREFIX_CACHE_MB = 256

const BYTES_PER_MB = 1024 * 1024

/** @param megabytes as `--prefix-cache-mb` gives them, MiB */
export function prefixCacheBytes(megabytes: number): number {
  return megabytes * BYTES_PER_MB
}

/** @param maxBytes bound on everything stored; 0 stores nothing */
export function createPrefixCache(lm: Pick<FrozenLm, 'dispose'>, maxBytes: number): PrefixCache {
  /** The longest unused first. */
  const entries = new Map<string, Entry>()
  let sizeBytes = 0
  let evictions = 0

  const disposeUnused = (entry: Entry): void => {
    if (!entry.stored && entry.users === 0) lm.dispose(entry.state)
  }
  const remove = (key: string, entry: Entry): void => {
    entries.delete(key)
    sizeBytes -= entry.costBytes
    entry.stored = false
    disposeUnused(entry)
  }
  const leaseOf = (entry: Entry): StateLease => {
    entry.users += 1
    let released = false
    return {
      state: entry.state,
      hidden: entry.hidden,
      release() {
        if (released) throw new AppError('invariant', 'invariant broken: a lease of a state is released once')
        released = true
        entry.users -= 1
        disposeUnused(entry)
      },
    }
  }
  /** Whether `bytes` more fit, after what is not in use has made way. */
  const makeRoom = (bytes: number): boolean => {
    const inUse = [...entries.values()].reduce((sum, entry) => sum + (entry.users > 0 ? entry.costBytes : 0), 0)
    if (inUse + bytes > maxBytes) return false
    for (const [key, entry] of entries) {
      if (sizeBytes + bytes <= maxBytes) break
      if (entry.users > 0) continue
      remove(key, entry)
      evictions += 1
    }
    return true
  }

  return {
    lease(key) {
      const entry = entries.get(key)
      if (entry === undefined) return null
      entries.delete(key)
      entries.set(key, entry)
      return leaseOf(entry)
    },
    store(key, { state, hidden }) {
      const costBytes = state.sizeBytes + hidden.byteLength + ENTRY_BYTES
      const entry: Entry = { state, hidden, costBytes, users: 0, stored: false }
      if (!entries.has(key) && makeRoom(costBytes)) {
        entries.set(key, entry)
        sizeBytes += costBytes
        entry.stored = true
      }
      return leaseOf(entry)
    },
    clear() {
      for (const [key, entry] of entries) remove(key, entry)
    },
    get entries() {
      return entries.size
    },
    get sizeBytes() {
      return sizeBytes
    },
    get evictions() {
      return evictions
    },
  }
}

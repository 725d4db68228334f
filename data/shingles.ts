/**
 * The text of a run as a set of hashed 8-word shingles: what near copies are found by (DESIGN sections 2 and 12). Pure.
 */
import { interactionText } from '../src/trajectory/interaction-text.ts'
import type { Trajectory } from '../src/trajectory/trajectory.ts'

/** Words of one shingle. */
export const SHINGLE_WORDS = 8

/**
 * Distinct shingles of a run outside its task head: interactions and the turns between them, in the order of the run.
 * Words are runs of letters, digits and underscores, compared without case; characters of scripts that are written without
 * blanks (CJK) are one word each. Layout and punctuation do not count.
 *   returns  32-bit hashes, ascending; two different shingles collide with probability 2^-32, far below the counts compared
 */
export function shinglesOf(run: Trajectory): Uint32Array {
  const hashes: number[] = []
  const window = createWindow((hash) => hashes.push(hash))
  let turn = 0
  for (const interaction of run.interactions) {
    for (; (run.turns[turn]?.before ?? Number.POSITIVE_INFINITY) <= interaction.index; turn++)
      forEachWord(run.turns[turn]?.text ?? '', window)
    forEachWord(interactionText(interaction), window)
  }
  for (; turn < run.turns.length; turn++) forEachWord(run.turns[turn]?.text ?? '', window)
  return sortedDistinct(Uint32Array.from(hashes))
}

/** Values that stand in both; both ascending and distinct. */
export function countShared(a: Uint32Array, b: Uint32Array): number {
  let shared = 0
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const left = a[i] as number
    const right = b[j] as number
    if (left === right) shared++
    if (left <= right) i++
    if (right <= left) j++
  }
  return shared
}

function sortedDistinct(values: Uint32Array): Uint32Array {
  values.sort()
  let count = 0
  for (let i = 0; i < values.length; i++)
    if (i === 0 || values[i] !== values[i - 1]) values[count++] = values[i] as number
  return values.slice(0, count)
}

/** Odd multiplier of the polynomial over word hashes: invertible modulo 2^32, so that no word's place is lost. */
const BASE = 0x01000193 | 0

/** Takes word hashes one by one and gives the hash of each window of SHINGLE_WORDS words. */
function createWindow(emit: (hash: number) => void): (word: number) => void {
  const last = new Int32Array(SHINGLE_WORDS)
  let oldest = 1
  for (let i = 0; i < SHINGLE_WORDS; i++) oldest = Math.imul(oldest, BASE)
  let sum = 0
  let count = 0
  return (word) => {
    const slot = count % SHINGLE_WORDS
    sum = (Math.imul(sum, BASE) + word - Math.imul(last[slot] as number, oldest)) | 0
    last[slot] = word
    count++
    if (count >= SHINGLE_WORDS) emit(mix(sum))
  }
}

/** Spreads the bits (the finaliser of MurmurHash3): sketches take the smallest hashes, so hashes must look drawn at random. */
function mix(value: number): number {
  let h = value
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

const FNV_START = 0x811c9dc5 | 0
const FNV_PRIME = 0x01000193

function forEachWord(text: string, visit: (hash: number) => void): void {
  let hash = FNV_START
  let open = false
  for (let at = 0; at < text.length; at++) {
    let code = text.charCodeAt(at)
    if (code >= 65 && code <= 90) code += 32
    else if (code >= 0xc0 && code < FIRST_UNSPACED) code = text.charAt(at).toLowerCase().charCodeAt(0)
    if (isWordCode(code)) {
      hash = Math.imul(hash ^ code, FNV_PRIME)
      open = true
      if (code < FIRST_UNSPACED) continue
    }
    if (open) visit(mix(hash) | 0)
    hash = FNV_START
    open = false
  }
  if (open) visit(mix(hash) | 0)
}

/** CJK and what follows it (surrogates included): each code unit is a word. */
const FIRST_UNSPACED = 0x2e80

function isWordCode(code: number): boolean {
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 95
  // Latin-1 signs, general punctuation to box drawing, CJK punctuation: no part of words.
  return code >= 0xc0 && !(code >= 0x2000 && code < FIRST_UNSPACED) && !(code >= 0x3000 && code < 0x3040)
}

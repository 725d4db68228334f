/**
 * Near copies: groups whose runs share more than half of their 8-word shingles outside the task head are one group before
 * any split (DESIGN section 2). Pure, deterministic, independent of the order of the runs.
 *
 * The share is taken of the smaller of the two sets (containment), not of the union (Jaccard): a prefix of a session, a
 * demonstration pasted into another run or a masked variant is wholly known to whoever trained on the longer run, although
 * Jaccard makes it small (measured: the SWE-agent run of pydicom-1458 holds 88 % of a marshmallow run at a Jaccard of .29).
 */
import type { Trajectory } from '../src/trajectory/trajectory.ts'
import { countShared, shinglesOf } from './shingles.ts'

/** Two runs are near copies if they share more than this part of the smaller one's shingles. */
export const NEAR_COPY_SHARE = 0.5
/** A run with fewer shingles has too little text for a share to mean copying. Assumption. */
export const MIN_SHINGLES = 16

/** Why two groups are one: runs a and b of different groups. */
export interface NearCopy {
  readonly a: string
  readonly b: string
  readonly shared: number
  /** Part of the smaller set's shingles, (NEAR_COPY_SHARE, 1]. */
  readonly share: number
}

export interface GroupMerge {
  /** Name of the merged group: the first of its members. */
  readonly group: string
  /** Groups that are one now, by code unit order; two or more. */
  readonly members: readonly string[]
  /** One pair for each join: members.length - 1 pairs connect all members. */
  readonly because: readonly NearCopy[]
}

export interface NearDuplicates {
  /** Group of a run -> merged group; every group of the runs stands here, most map to themselves. */
  readonly groupOf: ReadonlyMap<string, string>
  readonly merges: readonly GroupMerge[]
  /** Pairs of runs whose whole sets were compared: the work beyond one pass over the text. */
  readonly comparisons: number
}

/** The part of a run that `findNearDuplicates` reads. */
export type GroupedRun = Pick<Trajectory, 'id' | 'group' | 'interactions' | 'turns'>

interface Sketched {
  readonly id: string
  readonly group: string
  readonly shingles: Uint32Array
}

/**
 * One pass over the text, then a join of sketches: each run asks with its SKETCH smallest hashes, every run answers with
 * all of its own, and pairs that answer about half or more are compared in full. Time is linear in the text plus, for each
 * hash asked for, the runs that hold it; memory is 4 bytes a word.
 */
export function findNearDuplicates(runs: readonly Trajectory[]): NearDuplicates {
  const sketched = [...runs]
    .sort((a, b) => byCodeUnit(a.id, b.id))
    .map((run): Sketched => ({ id: run.id, group: run.group, shingles: shinglesOf(run) }))
  const groups = createGroups(sketched.map((run) => run.group))
  const long = joinEqualRuns(
    sketched.filter((run) => run.shingles.length >= MIN_SHINGLES),
    groups,
  )
  const questions = askWithSketches(long)
  const answers = new Int32Array(long.length)
  const asked = Int32Array.from(long, (run) => Math.min(SKETCH, run.shingles.length))
  let comparisons = 0
  for (const [larger, run] of long.entries()) {
    for (const smaller of answerQuestions({ questions, run, answers, asked })) {
      const other = long[smaller]
      if (other === undefined || smaller === larger || !isSmaller(other, smaller, run, larger)) continue
      if (groups.isJoined(other.group, run.group)) continue
      comparisons++
      const shared = countShared(other.shingles, run.shingles)
      const share = shared / other.shingles.length
      if (share > NEAR_COPY_SHARE) groups.join(run.group, other.group, nearCopy(other, run, shared))
    }
  }
  return { ...groups.finish(), comparisons }
}

/** Hashes a run asks with. */
const SKETCH = 256
/**
 * Answers below this part of the questions are not compared: a true share of one half answers 128 of 256 questions on
 * average with a standard deviation of 8, so fewer than 92 have a probability of about 3 in a million.
 */
const WORTH_COMPARING = 0.36

function nearCopy(smaller: Sketched, larger: Sketched, shared: number): NearCopy {
  const [a, b] = [smaller.id, larger.id].sort(byCodeUnit)
  return { a: a ?? '', b: b ?? '', shared, share: shared / smaller.shingles.length }
}

function isSmaller(a: Sketched, positionA: number, b: Sketched, positionB: number): boolean {
  const difference = a.shingles.length - b.shingles.length
  return difference < 0 || (difference === 0 && positionA < positionB)
}

/** Joins runs with equal sets and returns one of each: thousands of copies cost no more than one. */
function joinEqualRuns(runs: readonly Sketched[], groups: Groups): readonly Sketched[] {
  const firsts = new Map<string, Sketched[]>()
  return runs.filter((run) => {
    const key = `${run.shingles.length} ${run.shingles[0]} ${run.shingles.at(-1)}`
    const known = firsts.get(key) ?? []
    const equal = known.find((first) => countShared(first.shingles, run.shingles) === run.shingles.length)
    if (equal === undefined) {
      firsts.set(key, [...known, run])
      return true
    }
    if (!groups.isJoined(equal.group, run.group))
      groups.join(equal.group, run.group, nearCopy(equal, run, run.shingles.length))
    return false
  })
}

interface Questions {
  /** Hash -> positions of the runs that ask for it. */
  readonly askers: ReadonlyMap<number, readonly number[]>
  /** One bit for each value of a hash's upper 22 bits: most hashes are nobody's question, which must be cheap to tell. */
  readonly filter: Uint32Array
}

const FILTER_SHIFT = 10

function askWithSketches(runs: readonly Sketched[]): Questions {
  const askers = new Map<number, number[]>()
  const filter = new Uint32Array(2 ** (32 - FILTER_SHIFT - 5))
  for (const [position, { shingles }] of runs.entries()) {
    for (const hash of shingles.subarray(0, SKETCH)) {
      const known = askers.get(hash)
      if (known === undefined) askers.set(hash, [position])
      else known.push(position)
      const bit = hash >>> FILTER_SHIFT
      filter[bit >>> 5] = (filter[bit >>> 5] ?? 0) | (1 << (bit & 31))
    }
  }
  return { askers, filter }
}

/**
 * Positions of the runs whose questions `run` answers well enough to be worth comparing, ascending.
 *   answers  (runs) scratch, all 0 before and after
 *   asked    (runs) questions of each
 */
function answerQuestions(given: {
  readonly questions: Questions
  readonly run: Sketched
  readonly answers: Int32Array
  readonly asked: Int32Array
}): readonly number[] {
  const { questions, run, answers, asked } = given
  const touched: number[] = []
  for (const hash of run.shingles) {
    const bit = hash >>> FILTER_SHIFT
    if ((((questions.filter[bit >>> 5] as number) >>> (bit & 31)) & 1) === 0) continue
    for (const asker of questions.askers.get(hash) ?? []) {
      const before = answers[asker] as number
      if (before === 0) touched.push(asker)
      answers[asker] = before + 1
    }
  }
  const worth = touched.filter((asker) => (answers[asker] as number) >= (asked[asker] as number) * WORTH_COMPARING)
  for (const asker of touched) answers[asker] = 0
  return worth.sort((a, b) => a - b)
}

interface Groups {
  isJoined(a: string, b: string): boolean
  join(a: string, b: string, because: NearCopy): void
  finish(): Pick<NearDuplicates, 'groupOf' | 'merges'>
}

/** Union-find over group names; the representative is always the first name. */
function createGroups(names: readonly string[]): Groups {
  const parent = new Map(names.map((name) => [name, name]))
  const pairs: { readonly group: string; readonly because: NearCopy }[] = []
  const find = (name: string): string => {
    let root = name
    for (let up = parent.get(root); up !== undefined && up !== root; up = parent.get(root)) root = up
    for (let at = name; at !== root; ) {
      const next = parent.get(at) ?? root
      parent.set(at, root)
      at = next
    }
    return root
  }
  return {
    isJoined: (a, b) => find(a) === find(b),
    join(a, b, because) {
      const [first, second] = [find(a), find(b)].sort(byCodeUnit)
      if (first === undefined || second === undefined || first === second) return
      parent.set(second, first)
      pairs.push({ group: first, because })
    },
    finish() {
      const sorted = [...new Set(names)].sort(byCodeUnit)
      const groupOf = new Map(sorted.map((name) => [name, find(name)]))
      const members = new Map<string, string[]>()
      for (const [name, root] of groupOf) members.set(root, [...(members.get(root) ?? []), name])
      const merges = [...members]
        .filter(([, own]) => own.length > 1)
        .map(([group, own]) => ({
          group,
          members: own,
          because: pairs.filter((pair) => find(pair.group) === group).map((pair) => pair.because),
        }))
      return { groupOf, merges }
    },
  }
}

/** The same order on every machine: no locale. */
function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

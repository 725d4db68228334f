/**
 * A section: labelled blocks of text fitted into a token budget. Pure.
 * Labels, bodies and markers are each encoded on their own and concatenated, so equal blocks give equal tokens wherever
 * they stand, and a body is encoded once however often and however short it is cut.
 */

import { shareBudget } from './share-budget.ts'
import { truncateTokens } from './truncate-tokens.ts'
import type { ViewEncoder } from './view-encoder.ts'

export interface Block {
  /** Starts with a line break and ends with one where a body follows. Never truncated. */
  readonly label: string
  readonly body: string
}

export interface Section {
  readonly tokens: Int32Array
  /** Source tokens of the bodies that are not in `tokens`. */
  readonly truncatedTokens: number
}

/**
 * Blocks are left out from the front while their labels alone exceed the budget (the later, the closer to now); what is
 * left of the budget is shared fairly among the bodies.
 *   returns  tokens.length <= budget, always
 */
export function renderSection(encoder: ViewEncoder, blocks: readonly Block[], budget: number): Section {
  return concatSections(renderGroups(encoder, [blocks], budget))
}

/** One section cut into one for each group of blocks: the same tokens as of the groups' blocks in one section. */
export function renderGroups(
  encoder: ViewEncoder,
  groups: readonly (readonly Block[])[],
  budget: number,
): readonly Section[] {
  const blocks = groups.flat()
  const labels = blocks.map((block) => encoder.encode(block.label).head)
  const bodies = blocks.map((block) => encoder.encode(block.body))
  let first = 0
  let labelTokens = labels.reduce((sum, label) => sum + label.length, 0)
  while (labelTokens > budget) labelTokens -= labels[first++]?.length ?? 0

  const shares = shareBudget(
    bodies.slice(first).map((body) => body.tokenCount),
    budget - labelTokens,
  )
  const rendered = bodies.map((body, k): Section => {
    if (k < first) return { tokens: new Int32Array(0), truncatedTokens: body.tokenCount }
    const cut = truncateTokens(encoder, body, shares[k - first] ?? 0)
    return { tokens: concatTokens([labels[k] ?? new Int32Array(0), cut.tokens]), truncatedTokens: cut.goneTokens }
  })
  let from = 0
  return groups.map((group) => {
    from += group.length
    return concatSections(rendered.slice(from - group.length, from))
  })
}

export function concatSections(sections: readonly Section[]): Section {
  return {
    tokens: concatTokens(sections.map((section) => section.tokens)),
    truncatedTokens: sections.reduce((sum, section) => sum + section.truncatedTokens, 0),
  }
}

export function concatTokens(runs: readonly ArrayLike<number>[]): Int32Array {
  const out = new Int32Array(runs.reduce((sum, run) => sum + run.length, 0))
  let at = 0
  for (const run of runs) {
    out.set(run, at)
    at += run.length
  }
  return out
}

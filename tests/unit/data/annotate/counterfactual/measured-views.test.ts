import { describe, expect, it } from 'vitest'
import { chooseActions } from '../../../../../data/annotate/counterfactual/choose-actions.ts'
import {
  measuredAction,
  requireRoom,
  sharedTokens,
  targetTokens,
} from '../../../../../data/annotate/counterfactual/measured-views.ts'
import { DEFAULT_COUNTERFACTUAL } from '../../../../../data/annotate/counterfactual/settings.ts'
import { createViewEncoder } from '../../../../../src/view/view-encoder.ts'
import { interactionOf, repairTrajectory, trajectoryOf } from '../../../../fakes/trajectories.ts'
import { createWordTokenizer } from '../../../../fakes/word-tokenizer.ts'

const tokenizer = createWordTokenizer([0])
const encoder = createViewEncoder(tokenizer, { largestSection: 400, maxCachedChars: 1e6 })
const settings = { ...DEFAULT_COUNTERFACTUAL, recentInteractions: 2 }
const run = repairTrajectory()
const at = (index: number) => run.interactions[index] ?? interactionOf(index)
const textOf = (tokens: ArrayLike<number>): string => tokenizer.decode(tokens)

describe('a measured view', () => {
  it('shares the task and the interactions right before the action, with the turns between them', () => {
    const shared = textOf(sharedTokens(encoder, { run, action: at(5), without: null }, settings))
    expect(shared).toMatch(/^<bos>\n\[system\]\nYou repair shops/)
    expect(shared).toContain('cat src/cart.js')
    expect(shared).toContain('Two calls at once')
    expect(shared).not.toContain('The sum in src/cart.js looks wrong')
    expect(shared).not.toContain('npm ci && npm test')
    // The turn before action 5 is not there yet, the one before 3 is.
    expect(shared).toContain('Mind the currency')
    expect(shared).not.toContain('Now write the changelog')
  })

  it('leaves the target out of the recent interactions: the one before it takes its place', () => {
    const shared = textOf(sharedTokens(encoder, { run, action: at(5), without: at(4) }, settings))
    expect(shared).not.toContain('Two calls at once')
    expect(shared).toContain('cat src/cart.js')
    expect(shared).toContain('The sum in src/cart.js looks wrong')
  })

  it('ends in the first tokens of the action alone, behind its label', () => {
    const { tokens, from } = measuredAction(encoder, at(5), { ...settings, actionTokens: 5 })
    expect(textOf(tokens.subarray(0, from))).toBe('\n[interaction]\nAction:\n')
    expect(textOf(tokens.subarray(from))).toBe('bash({"command')
    expect(from).toBeGreaterThan(0)
  })

  it('keeps every part within its budget', () => {
    const small = { ...settings, headTokens: 30, recentTokens: 40, targetTokens: 25, actionTokens: 9 }
    for (const interaction of run.interactions)
      expect(targetTokens(encoder, interaction, small).length).toBeLessThanOrEqual(25)
    const shared = sharedTokens(encoder, { run, action: at(5), without: null }, small)
    expect(shared.length).toBeLessThanOrEqual(71)
    const { tokens, from } = measuredAction(encoder, at(4), small)
    expect(tokens.length - from).toBe(9)
  })

  it('is refused by name where it does not fit the model', () => {
    expect(() => requireRoom(settings, 4096)).not.toThrow()
    expect(() => requireRoom(settings, 900)).toThrow(expect.objectContaining({ code: 'context-too-short' }))
  })
})

describe('the actions that are measured', () => {
  it('are all with a text and something before them, or an even draw of as many as asked for', () => {
    const long = trajectoryOf({
      interactions: Array.from({ length: 40 }, (_, k) => interactionOf(k, { text: k % 4 === 3 ? ' ' : `do ${k}` })),
    })
    const all = chooseActions(long, { max: 99, seed: 0 }).map(({ index }) => index)
    expect(all).toEqual(long.interactions.map(({ index }) => index).filter((k) => k > 0 && k % 4 !== 3))
    const some = chooseActions(long, { max: 6, seed: 0 }).map(({ index }) => index)
    expect(some).toHaveLength(6)
    for (const [k, index] of some.entries()) {
      expect(all.indexOf(index)).toBeGreaterThanOrEqual(Math.floor((k * all.length) / 6))
      expect(all.indexOf(index)).toBeLessThan(Math.floor(((k + 1) * all.length) / 6))
    }
    expect(chooseActions(trajectoryOf({}), { max: 6, seed: 0 })).toEqual([])
  })
})

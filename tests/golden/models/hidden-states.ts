/**
 * Golden hidden states of one checkpoint: PyTorch 2.15.0 + transformers 5.24.0, float32, eager attention, weights
 * widened to float32, no cache (../shared/models/README.md). Layer L = output of decoder layer L, before the final norm.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { FrozenLm } from '../../../models/frozen-lm/port.ts'
import { readSafetensorsHeader, readTensorF32 } from '../../../models/safetensors.ts'
import { expectRowsEqual } from '../compare-rows.ts'

interface GoldenJson {
  readonly layers: readonly number[]
  readonly sequences: Readonly<Record<string, { readonly ids: readonly number[]; readonly rows: readonly number[] }>>
  readonly shared_prefix: { readonly prefix: readonly number[]; readonly targets: readonly (readonly number[])[] }
}

export interface HiddenStateGolden extends GoldenJson {
  /** @param name e.g. `medium.layer4` */
  readonly values: (name: string) => Float32Array
}

export function openGolden(directory: string): HiddenStateGolden {
  const json = JSON.parse(readFileSync(join(directory, 'golden.json'), 'utf8')) as GoldenJson
  const path = join(directory, 'golden.safetensors')
  const header = readSafetensorsHeader(path)
  return {
    ...json,
    values(name) {
      const info = header.tensors.get(name)
      if (info === undefined) throw new Error(`the golden file has no ${name}`)
      return readTensorF32(path, info)
    },
  }
}

/** Every golden sequence at the LM's layer. */
export async function checkSequences(lm: FrozenLm, golden: HiddenStateGolden): Promise<void> {
  const { layer, hiddenSize } = lm.info
  for (const [name, { ids, rows }] of Object.entries(golden.sequences)) {
    const { hidden } = await lm.prefill(Int32Array.from(ids), { past: null, rows, keepState: false })
    const what = `${name}.layer${layer}`
    expectRowsEqual({ what, actual: hidden.data, golden: golden.values(what), cols: hiddenSize })
  }
}

/**
 * The shared prefix once, every target behind its state; the targets named in `fullViews` also as one full view, which
 * must give the same bits.
 */
export async function checkSharedPrefix(
  lm: FrozenLm,
  golden: HiddenStateGolden,
  fullViews: readonly number[],
): Promise<void> {
  const { layer, hiddenSize: cols } = lm.info
  const { prefix, targets } = golden.shared_prefix
  const shared = await lm.prefill(Int32Array.from(prefix), { past: null, rows: 'last', keepState: true })
  const atLayer = (name: string) => ({ what: `${name}.layer${layer}`, golden: golden.values(`${name}.layer${layer}`) })
  expectRowsEqual({ ...atLayer('prefix'), actual: shared.hidden.data, cols })
  if (shared.state === null) throw new Error('the state was asked for')
  for (const [i, target] of targets.entries()) {
    const behind = await lm.prefill(Int32Array.from(target), { past: shared.state, rows: 'last', keepState: false })
    expectRowsEqual({ ...atLayer(`target${i}`), actual: behind.hidden.data, cols })
    if (!fullViews.includes(i)) continue
    const whole = Int32Array.from([...prefix, ...target])
    const full = await lm.prefill(whole, { past: null, rows: 'last', keepState: false })
    const equal = Buffer.from(full.hidden.data.buffer).equals(Buffer.from(behind.hidden.data.buffer))
    expect(
      equal,
      `layer ${layer}, target ${i} of ${target.length} tokens: behind the state = full view, bit for bit`,
    ).toBe(true)
  }
  lm.dispose(shared.state)
}

/** Lengths of prefix and target around the blocks of 16 that the kernels work in, single tokens included. */
const SPLITS = [
  [1, 1],
  [1, 16],
  [16, 1],
  [17, 15],
  [33, 60],
  [40, 1],
  [100, 80],
] as const

/** Targets behind a prefix give the bits of one run over both, also when the same state serves twice and is extended. */
export async function expectSplitsEqual(lm: FrozenLm): Promise<void> {
  const { layer, vocabularySize } = lm.info
  const tokensOf = (count: number): Int32Array =>
    Int32Array.from({ length: count }, (_, i) => (i * i * 7 + i * 37 + 5) % vocabularySize)
  for (const [prefix, target] of SPLITS) {
    const tokens = tokensOf(prefix + target)
    const whole = await lm.prefill(tokens, { past: null, rows: 'last', keepState: false })
    const { state } = await lm.prefill(tokens.subarray(0, prefix), { past: null, rows: 'last', keepState: true })
    const what = `layer ${layer}, ${prefix} + ${target} tokens`
    for (const use of ['first', 'second'])
      expect(
        (await lm.prefill(tokens.subarray(prefix), { past: state, rows: 'last', keepState: false })).hidden.data,
        `${what}, ${use} use of the state`,
      ).toEqual(whole.hidden.data)
    const more = await lm.prefill(tokens.subarray(prefix), { past: state, rows: 'last', keepState: true })
    const next = tokensOf(3)
    const extended = await lm.prefill(next, { past: more.state, rows: 'last', keepState: false })
    const all = Int32Array.from([...tokens, ...next])
    const longer = await lm.prefill(all, { past: null, rows: 'last', keepState: false })
    expect(extended.hidden.data, `${what}, then 3`).toEqual(longer.hidden.data)
  }
}

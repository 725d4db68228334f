/**
 * Which engine a choice means on this machine. A name means itself or fails; only a family and `auto` look around, always
 * in the same order.
 */
import { AppError } from '../../src/errors.ts'
import { ENGINES, type EngineChoice, type EngineName } from './engine-names.ts'
import { createEngineProber, type EngineProber } from './engine-prober.ts'

export interface ChosenEngine {
  readonly name: EngineName
  /** For people: why this one. */
  readonly because: string
}

/** Fastest first; the last one of `auto` and `ort` is always there. */
const ORDER: Readonly<Record<'auto' | 'ort' | 'tfjs', readonly EngineName[]>> = {
  auto: ['tfjs-node-gpu', 'ort-cuda', 'ort-cpu'],
  ort: ['ort-cuda', 'ort-cpu'],
  tfjs: ['tfjs-node-gpu', 'tfjs-wasm'],
}

/** @throws engine-unavailable with what to install if none of what the choice allows is there */
export async function chooseEngine(
  choice: EngineChoice,
  prober: EngineProber = createEngineProber(),
): Promise<ChosenEngine> {
  const exact = ENGINES.find((name) => name === choice)
  const candidates = exact === undefined ? ORDER[choice as keyof typeof ORDER] : [exact]
  const missing: { readonly name: EngineName; readonly lacks: string; readonly remedy: string }[] = []
  for (const name of candidates) {
    const verdict = await prober.probe(name)
    if (verdict.ok) return { name, because: reason(choice, exact, missing) }
    missing.push({ name, ...verdict })
  }
  throw new AppError(
    'engine-unavailable',
    `--backend ${choice} is not there: ${missing.map(({ name, lacks, remedy }) => `${name} lacks ${lacks}: ${remedy}`).join('; ')}. --backend ort-cpu always works`,
  )
}

function reason(
  choice: EngineChoice,
  exact: EngineName | undefined,
  missing: readonly { readonly name: EngineName; readonly lacks: string }[],
): string {
  if (exact !== undefined) return 'asked for'
  const passed = missing.map(({ name, lacks }) => `${name} lacks ${lacks}`).join(', ')
  return passed === '' ? `first choice of ${choice}` : `${choice}: ${passed}`
}

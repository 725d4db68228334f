/** The training engines by name, and what `--backend` takes. */

export const ENGINES = ['ort-cpu', 'ort-cuda', 'tfjs-wasm', 'tfjs-node-gpu'] as const
export type EngineName = (typeof ENGINES)[number]

/** A family or `auto` takes the fastest engine that is really there; an exact name takes that one or fails. */
export const ENGINE_CHOICES = ['auto', 'ort', 'tfjs', ...ENGINES] as const
export type EngineChoice = (typeof ENGINE_CHOICES)[number]

/** Jobs on a GPU run one at a time: TensorFlow takes all of its memory, and two would share its speed anyway. */
export function runsOnGpu(engine: EngineName): boolean {
  return engine === 'ort-cuda' || engine === 'tfjs-node-gpu'
}

/** Always there, bit-exact, and what every other engine is compared with. */
export const REFERENCE_ENGINE = 'ort-cpu' satisfies EngineName

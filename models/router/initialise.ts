/**
 * Seeded first parameters of a router; every backend starts from these.
 */
import { createRng, deriveSeed } from '../../src/rng.ts'
import { blocksOf, buildParameters } from './parameters.ts'
import { blockSize, type RouterParameters, type RouterSpec } from './spec.ts'

/**
 * Uniform weights, zero biases. The bound of a block is 1 / sqrt(blocks * block size), so that every block of
 * standardised inputs adds the same variance to a hidden unit; for [h; q; m] this is the usual 1 / sqrt(fan-in).
 * Without it the few evidence features would start almost unheard beside thousands of hidden dimensions.
 */
export function initialiseRouter(spec: RouterSpec, seed: number): RouterParameters {
  const blocks = blocksOf(spec)
  const bounds = new Map<string, number>(
    blocks.map((block) => [`weights.${block}`, 1 / Math.sqrt(blocks.length * blockSize(spec, block))]),
  )
  bounds.set('w2', 1 / Math.sqrt(Math.max(1, spec.width)))
  return buildParameters(spec, (tensor) => {
    const values = new Float32Array(tensor.size)
    if (tensor.isBias) return values
    const rng = createRng(deriveSeed(seed, 'initialise', tensor.name))
    const bound = bounds.get(tensor.name) ?? 0
    for (let i = 0; i < values.length; i++) values[i] = (2 * rng.nextFloat() - 1) * bound
    return values
  })
}

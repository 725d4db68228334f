/**
 * The router's loss and logits as TensorFlow.js expressions, in the factorised form of training/batch.ts. Knows no
 * optimiser and reads nothing back. Its letters are those of training/batch.ts; H = width, C = max(1, H).
 */
import type * as tfjs from '@tensorflow/tfjs'
import { blocksOf, type TensorName } from '../../models/router/parameters.ts'
import type { RouterSpec } from '../../models/router/spec.ts'
import { invariant } from '../../src/errors.ts'
import type { Batch } from '../batch.ts'

/** The library as a value: it is an optional package, so it comes as an argument. */
export type Tf = typeof tfjs
type Tensor = tfjs.Tensor

/**
 * explicit  products whose backward pass multiplies by transposed copies
 * plain     what the library derives itself. In wasm a product with `transposeA` leaves the fast kernels (29 times slower,
 *           reference/trainer.md section 8); kept to measure that, not to train with
 */
export type Derivatives = 'explicit' | 'plain'

export interface TfjsRouter {
  /** sum w (softplus(logit) - y logit), a scalar; differentiable in the parameters. */
  loss(batch: Batch, mask: Float32Array | null): Tensor
  /** (T * P, 1) without dropout. */
  logits(batch: Batch): Tensor
}

/** @param parameter the tensor of a name, in the shape that `tensorsOf` gives it */
export function createTfjsRouter(options: {
  readonly tf: Tf
  readonly spec: RouterSpec
  readonly derivatives: Derivatives
  readonly parameter: (name: TensorName) => Tensor
}): TfjsRouter {
  const { tf, spec, parameter } = options
  const columns = Math.max(1, spec.width)
  const { constantTimes, product, select } = options.derivatives === 'plain' ? plainProducts(tf) : explicitProducts(tf)

  /** (T * P, C) with b1 where there is one. */
  const preActivation = (batch: Batch): Tensor => {
    const { trajectories: T, pairs: P } = batch
    const terms: Tensor[] = []
    if (batch.blocks.length > 0) {
      const projected = batch.blocks.map(({ name, rows, values }) => {
        const vectors = tf.tensor(values, [T * rows, spec.hiddenSize])
        return tf.reshape(constantTimes(vectors, parameter(`weights.${name}`)), [T, rows, columns])
      })
      terms.push(tf.reshape(select(batch, tf.concat(projected, 1)), [T * P, columns]))
    }
    if (blocksOf(spec).includes('x')) {
      const evidence = tf.tensor(invariant(batch.evidence, 'the batch has evidence'), [T * P, spec.evidenceSize])
      terms.push(constantTimes(evidence, parameter('weights.x')))
    }
    if (spec.width > 0) terms.push(parameter('b1'))
    return terms.reduce((sum, term) => tf.add(sum, term))
  }
  const logitsOf = (batch: Batch, mask: Float32Array | null): Tensor => {
    const z = preActivation(batch)
    if (spec.width === 0) return tf.add(z, parameter('b2'))
    const activation = tf.relu(z)
    const hidden = mask === null ? activation : tf.mul(activation, tf.tensor(mask, z.shape))
    return tf.add(product(hidden, tf.reshape(parameter('w2'), [spec.width, 1])), parameter('b2'))
  }

  return {
    loss(batch, mask) {
      const logits = logitsOf(batch, mask)
      const [labels, weights] = [batch.labels, batch.weights].map((values) => tf.tensor(values, logits.shape))
      const perPair = tf.sub(tf.softplus(logits), tf.mul(logits, invariant(labels, 'the batch has labels')))
      return tf.sum(tf.mul(perPair, invariant(weights, 'the batch has weights')))
    },
    logits: (batch) => logitsOf(batch, null),
  }
}

interface Products {
  /** left . right, where only `right` has a gradient. */
  readonly constantTimes: (left: Tensor, right: Tensor) => Tensor
  readonly product: (left: Tensor, right: Tensor) => Tensor
  /** S . projected for each trajectory: (T, N, C) -> P rows of C for each of T, one below the other. */
  readonly select: (batch: Batch, projected: Tensor) => Tensor
}

function plainProducts(tf: Tf): Products {
  const product = (left: Tensor, right: Tensor): Tensor => tf.matMul(left, right)
  return {
    constantTimes: product,
    product,
    select: (batch, projected) => {
      const { trajectories: T, pairs: P, selection } = batch
      return product(tf.tensor(selection, [T, P, selection.length / (T * P)]), projected)
    },
  }
}

/**
 * Gather has no gradient in wasm and transposed products are slow there: transposes are copies, written out. What the
 * backward pass needs is saved, or the library frees it behind the forward pass.
 */
function explicitProducts(tf: Tf): Products {
  return {
    constantTimes(left, right) {
      const multiply = tf.customGrad((variable, save) => {
        keepWith(save, [left])
        return {
          value: tf.matMul(left, variable as Tensor),
          gradFunc: (error: Tensor, saved: readonly Tensor[]) => tf.matMul(tf.transpose(saved[0] as Tensor), error),
        }
      })
      return multiply(right)
    },
    product(left, right) {
      const multiply = tf.customGrad((a, b, save) => {
        keepWith(save, [a as Tensor, b as Tensor])
        return {
          value: tf.matMul(a as Tensor, b as Tensor),
          gradFunc: (error: Tensor, saved: readonly Tensor[]) => [
            tf.matMul(error, tf.transpose(saved[1] as Tensor)),
            tf.matMul(tf.transpose(saved[0] as Tensor), error),
          ],
        }
      })
      return multiply(left, right)
    },
    select(batch, projected) {
      const { trajectories: T, pairs: P } = batch
      const N = batch.selection.length / (T * P)
      const C = projected.shape[2] as number
      const multiply = tf.customGrad((variable) => ({
        value: eachTimes(tf, { lefts: batch.selection, shape: [T, P, N], rights: variable as Tensor }),
        gradFunc: (error: Tensor) => {
          const each = eachTimes(tf, { lefts: batch.selectionTransposed, shape: [T, N, P], rights: error })
          return tf.reshape(each, [T, N, C])
        },
      }))
      return multiply(projected)
    },
  }
}

/**
 * One product for each trajectory: wasm leaves its fast kernels for a batch of several matrices (1 instead of 20 GFLOPS).
 *   lefts (T, a, b); rights (T * b, C) in any shape; returns (T * a, C)
 */
function eachTimes(
  tf: Tf,
  factors: {
    readonly lefts: Float32Array
    readonly shape: readonly [T: number, a: number, b: number]
    readonly rights: Tensor
  },
): Tensor {
  const { lefts, rights } = factors
  const [T, a, b] = factors.shape
  const C = rights.shape.at(-1) as number
  const products = tf.split(tf.reshape(rights, [T * b, C]), T).map((right, t) => {
    const left = tf.tensor(lefts.subarray(t * a * b, (t + 1) * a * b), [a, b])
    return tf.matMul(left, right)
  })
  return tf.concat(products, 0)
}

/** The library's types say that the last argument of a gradient function is a tensor; it is this function. */
function keepWith(save: Tensor | tfjs.GradSaveFunc, tensors: Tensor[]): void {
  ;(save as tfjs.GradSaveFunc)(tensors)
}

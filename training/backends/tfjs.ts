/**
 * The second training engine: TensorFlow.js, on whatever backend of it was loaded (wasm, or CUDA through tfjs-node-gpu).
 * The same formula as ort.ts by other code, so that each is a check on the other. Everything that it allocates is freed:
 * between calls it holds three tensors for each parameter and nothing else.
 */
import type * as tfjs from '@tensorflow/tfjs'
import {
  buildParameters,
  parameterCount,
  type TensorName,
  tensorOf,
  tensorsOf,
} from '../../models/router/parameters.ts'
import type { RouterParameters } from '../../models/router/spec.ts'
import { AppError, invariant } from '../../src/errors.ts'
import type { Batch } from '../batch.ts'
import type { BackendOptions, TrainerBackend } from './backend.ts'
import type { TfjsRuntime } from './load-tfjs.ts'
import { requireMask } from './require-mask.ts'
import { createTfjsRouter, type Derivatives } from './tfjs-router.ts'

type Role = 'parameter' | 'firstMoment' | 'secondMoment'
const ROLES: readonly Role[] = ['parameter', 'firstMoment', 'secondMoment']

/**
 * Copies of the parameters that are alive at the worst moment: the roles, the gradients, and two intermediate results
 * of the optimiser on the largest tensor.
 */
const COPIES_AT_PEAK = 6

/** @throws option-invalid if the router does not fit into the runtime's memory */
export function createTfjsBackend(
  runtime: TfjsRuntime,
  options: BackendOptions & { readonly derivatives?: Derivatives },
): TrainerBackend {
  const { tf } = runtime
  const { spec, adamw, derivatives = 'explicit' } = options
  requireMemory(runtime, parameterCount(spec))
  const tensors = tensorsOf(spec)
  const state = new Map<string, tfjs.Variable>()
  const variable = (role: Role, name: TensorName): tfjs.Variable =>
    invariant(state.get(`${role} ${name}`), `${role} of ${name} is held`)
  for (const role of ROLES)
    for (const { name, shape } of tensors) {
      const values = tf.tidy(() =>
        role === 'parameter' ? tf.tensor(tensorOf(options.parameters, name), [...shape]) : tf.zeros([...shape]),
      )
      state.set(`${role} ${name}`, tf.variable(values, role === 'parameter'))
      values.dispose()
    }
  const router = createTfjsRouter({ tf, spec, derivatives, parameter: (name) => variable('parameter', name) })
  const trained = tensors.map(({ name }) => variable('parameter', name))
  let step = 0

  const differentiate = (batch: Batch, mask: Float32Array | null): Differentiated => {
    const { value, grads } = tf.variableGrads(() => router.loss(batch, mask) as tfjs.Scalar, trained)
    const gradient = (name: TensorName): tfjs.Tensor =>
      invariant(grads[variable('parameter', name).name], `${name} has a gradient`)
    return { loss: value, gradients: Object.fromEntries(tensors.map(({ name }) => [name, gradient(name)])) }
  }
  /** One tensor at a time, so that intermediate results of one are freed before those of the next. */
  const update = (gradients: Differentiated['gradients'], at: number): void => {
    const { learningRate, decay, beta1, beta2, epsilon } = adamw
    const rate = learningRate / (1 - beta1 ** at)
    const correction = 1 / Math.sqrt(1 - beta2 ** at)
    for (const { name, isBias } of tensors)
      tf.tidy(() => {
        const [parameter, first, second] = ROLES.map((role) => variable(role, name)) as [
          tfjs.Variable,
          tfjs.Variable,
          tfjs.Variable,
        ]
        const gradient = invariant(gradients[name], `${name} has a gradient`)
        first.assign(tf.tidy(() => tf.add(tf.mul(first, beta1), tf.mul(gradient, 1 - beta1))))
        second.assign(tf.tidy(() => tf.add(tf.mul(second, beta2), tf.mul(tf.square(gradient), 1 - beta2))))
        gradient.dispose()
        const scale = tf.tidy(() => tf.add(tf.mul(tf.sqrt(second), correction), epsilon))
        const change = tf.tidy(() => tf.div(tf.mul(first, rate), scale))
        scale.dispose()
        const kept = isBias ? parameter : tf.mul(parameter, 1 - learningRate * decay)
        parameter.assign(tf.sub(kept, change))
      })
  }
  const copyOf = (role: Role): RouterParameters =>
    buildParameters(spec, ({ name }) => Float32Array.from(variable(role, name).dataSync()))
  const load = (role: Role, parameters: RouterParameters): void => {
    for (const { name, shape } of tensors)
      tf.tidy(() => variable(role, name).assign(tf.tensor(tensorOf(parameters, name), [...shape])))
  }

  return {
    name: runtime.engine,
    version: runtime.version,
    deterministic: runtime.deterministic,
    async gradients(batch, mask) {
      requireActive(runtime)
      requireMask(spec, mask)
      const { loss, gradients } = tf.tidy(() => differentiate(batch, mask))
      const values = new Map<TensorName, Float32Array>()
      for (const { name } of tensors)
        values.set(name, (await invariant(gradients[name], `${name} has a gradient`).data()) as Float32Array)
      const lossNats = (await loss.data())[0] as number
      tf.dispose([loss, ...Object.values(gradients)])
      return {
        loss: lossNats,
        gradients: buildParameters(spec, ({ name }) => invariant(values.get(name), `${name} was read`)),
      }
    },
    async step(batch, mask) {
      requireActive(runtime)
      requireMask(spec, mask)
      const loss = tf.tidy(() => {
        const result = differentiate(batch, mask)
        update(result.gradients, step + 1)
        return result.loss
      })
      step += 1
      const lossNats = (await loss.data())[0] as number
      loss.dispose()
      return lossNats
    },
    async logits(batch) {
      requireActive(runtime)
      const logits = tf.tidy(() => router.logits(batch))
      const values = (await logits.data()) as Float32Array
      logits.dispose()
      return values
    },
    exportState: () => ({
      parameters: copyOf('parameter'),
      firstMoment: copyOf('firstMoment'),
      secondMoment: copyOf('secondMoment'),
      step,
    }),
    importState(given) {
      load('parameter', given.parameters)
      load('firstMoment', given.firstMoment)
      load('secondMoment', given.secondMoment)
      step = given.step
    },
    async close() {
      tf.dispose([...state.values()])
      state.clear()
    },
  }
}

type Differentiated = {
  readonly loss: tfjs.Scalar
  /** By TensorName. */
  readonly gradients: Record<string, tfjs.Tensor>
}

function requireMemory(runtime: TfjsRuntime, parameters: number): void {
  const needed = parameters * Float32Array.BYTES_PER_ELEMENT * COPIES_AT_PEAK
  if (runtime.memoryBytes === null || needed <= runtime.memoryBytes) return
  throw new AppError(
    'option-invalid',
    `a router of ${parameters} parameters needs about ${needed} bytes in ${runtime.engine}, the limit is ${runtime.memoryBytes}: use a smaller --width`,
  )
}

/** The library has one active backend for the whole process; another one would compute, and free, the wrong tensors. */
function requireActive({ tf, engine, backend }: TfjsRuntime): void {
  if (tf.getBackend() !== backend)
    throw new AppError('invariant', `${engine} needs the backend ${backend} active, it is ${tf.getBackend()}`)
}

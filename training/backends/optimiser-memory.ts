/**
 * One WebAssembly.Memory that holds a router's parameters, both AdamW moments and its gradients. ONNX Runtime reads
 * parameters from it and writes gradients into it; the AdamW kernel updates in place. Nothing is copied between them.
 * Knows tensors and bytes; nothing about losses.
 */
import { type TensorName, tensorsOf } from '../../models/router/parameters.ts'
import type { RouterSpec } from '../../models/router/spec.ts'
import { AppError, invariant } from '../../src/errors.ts'
import { ADAMW_WASM_BASE64 } from './adamw-wasm.ts'
import type { AdamWOptions } from './backend.ts'
import { wasm } from './webassembly.ts'

const PAGE_BYTES = 65536
const MAX_PAGES = 65536
/** The kernel works on four floats at a time; every tensor is padded to that. */
const LANES = 4

/** The four roles of a tensor's values, in memory order. */
export type TensorRole = 'parameter' | 'firstMoment' | 'secondMoment' | 'gradient'
const ROLES: readonly TensorRole[] = ['parameter', 'firstMoment', 'secondMoment', 'gradient']

export interface OptimiserMemory {
  /** A live view (not a copy) of one tensor. */
  view(role: TensorRole, name: TensorName): Float32Array
  /** One AdamW step on every tensor from the gradients in memory; step counts from 1. */
  update(step: number): void
}

type Kernel = (...numbers: readonly number[]) => void

/** @throws option-invalid if the router does not fit into 4 GiB of optimiser memory */
export function createOptimiserMemory(spec: RouterSpec, options: AdamWOptions): OptimiserMemory {
  const tensors = tensorsOf(spec)
  const offsets = new Map<TensorName, number>()
  let floats = 0
  for (const tensor of tensors) {
    offsets.set(tensor.name, floats)
    floats += Math.ceil(tensor.size / LANES) * LANES
  }
  const pages = Math.ceil((floats * ROLES.length * Float32Array.BYTES_PER_ELEMENT) / PAGE_BYTES)
  if (pages > MAX_PAGES)
    throw new AppError(
      'option-invalid',
      `a router of ${floats} parameters needs ${pages * PAGE_BYTES} bytes of optimiser memory, the limit is 4 GiB: use a smaller --width`,
    )
  const memory = new wasm.Memory({ initial: pages, maximum: pages })
  const module = new wasm.Module(Buffer.from(ADAMW_WASM_BASE64, 'base64'))
  const adamw = new wasm.Instance(module, { env: { memory } }).exports.adamw as Kernel
  const address = (role: TensorRole, name: TensorName): number =>
    (ROLES.indexOf(role) * floats + invariant(offsets.get(name) ?? null, `tensor ${name} is in memory`)) *
    Float32Array.BYTES_PER_ELEMENT

  return {
    view(role, name) {
      const size = invariant(
        tensors.find((tensor) => tensor.name === name),
        `the spec has tensor ${name}`,
      ).size
      return new Float32Array(memory.buffer, address(role, name), size)
    },
    update(step) {
      const { learningRate, decay, epsilon } = options
      // The kernel's betas are float32; the bias corrections use the same rounded values.
      const beta1 = Math.fround(options.beta1)
      const beta2 = Math.fround(options.beta2)
      const rate = learningRate / (1 - beta1 ** step)
      const correction = 1 / Math.sqrt(1 - beta2 ** step)
      for (const tensor of tensors) {
        const keep = tensor.isBias ? 1 : 1 - learningRate * decay
        const count = Math.ceil(tensor.size / LANES) * LANES
        const [p, m, v, g] = ROLES.map((role) => address(role, tensor.name))
        adamw(...[p, m, v, g, count, beta1, beta2, rate, correction, keep, epsilon].map(Number))
      }
    },
  }
}

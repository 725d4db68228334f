/** What a prefill is measured against: the rate at which this runtime multiplies 2048 x 2048 matrices on this machine. */
import * as ort from 'onnxruntime-node'
import { createRng } from '../../src/rng.ts'
import { createOnnxGraph } from '../onnx/onnx-graph.ts'
import { type Cost, readClock, since } from './bench-schedule.ts'

const SIZE = 2048

/** Floating-point operations of one run of the probe. */
export const MATMUL_FLOPS = 2 * SIZE ** 3

export interface MatMulProbe {
  run(): Promise<Cost>
  close(): Promise<void>
}

/** One 2048^3 product with a constant right side, which the runtime packs beforehand: its best case. One thread. */
export async function createMatMulProbe(): Promise<MatMulProbe> {
  const rng = createRng(1)
  const values = new Float32Array(SIZE * SIZE)
  for (let i = 0; i < values.length; i++) values[i] = rng.nextFloat() - 0.5
  const graph = createOnnxGraph('matmul')
  graph.input('a', 'f32', [SIZE, SIZE])
  graph.op('MatMul', ['a', graph.constant('b', 'f32', [SIZE, SIZE], values)], { outputs: ['c'] })
  graph.output('c', 'f32', [SIZE, SIZE])
  const session = await ort.InferenceSession.create(graph.encode(), {
    executionProviders: ['cpu'],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  })
  const feeds = { a: new ort.Tensor('float32', values, [SIZE, SIZE]) }
  return {
    async run() {
      const start = readClock()
      await session.run(feeds)
      return since(start)
    },
    close: () => session.release(),
  }
}

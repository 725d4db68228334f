/**
 * onnxruntime sessions of router graphs: one thread, CPU, errors by name.
 */
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { AppError } from '../../src/errors.ts'
import type { Matrix } from '../../src/tensor/matrix.ts'

export interface RouterSession {
  /** @throws session-failed */
  run(feeds: Readonly<Record<string, Matrix>>): Promise<Readonly<Record<string, Tensor>>>
  close(): Promise<void>
}

/** @throws session-failed */
export async function openRouterSession(model: Uint8Array): Promise<RouterSession> {
  const session = await create(model)
  return {
    async run(feeds) {
      const tensors = Object.entries(feeds).map(([name, { data, rows, cols }]) => [
        name,
        new Tensor('float32', data, [rows, cols]),
      ])
      try {
        return (await session.run(Object.fromEntries(tensors) as Record<string, Tensor>)) as Record<string, Tensor>
      } catch (cause) {
        throw new AppError('session-failed', `scoring failed: ${String(cause)}`, { cause })
      }
    },
    close: () => session.release(),
  }
}

/** @throws output-not-finite naming the row */
export function finiteLogits(tensor: Tensor | undefined): Float32Array {
  const logits = Float32Array.from(tensor?.data as Float32Array)
  const bad = logits.findIndex((logit) => !Number.isFinite(logit))
  if (bad !== -1)
    throw new AppError(
      'output-not-finite',
      `the router's logit of target ${bad} of ${logits.length} is ${logits[bad]}: its inputs or parameters are not finite`,
    )
  return logits
}

async function create(model: Uint8Array): Promise<InferenceSession> {
  try {
    return await InferenceSession.create(model, {
      executionProviders: ['cpu'],
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      logSeverityLevel: 3,
    })
  } catch (cause) {
    throw new AppError('session-failed', `the router's scoring graph does not load: ${String(cause)}`, { cause })
  }
}

/** A checkpoint as a token scorer: its decoder up to the last layer, then its head in a session of its own, on the CPU. */
import * as ort from 'onnxruntime-node'
import { AppError, invariant } from '../../../src/errors.ts'
import { type Checkpoint, openCheckpoint } from '../checkpoint.ts'
import { completeExecution, type Execution } from '../execution.ts'
import { loadFrozenLm } from '../load-frozen-lm.ts'
import type { FrozenLm } from '../port.ts'
import { planSession } from '../session-plan.ts'
import { buildHeadGraph, HEAD_NAMES } from './head-graph.ts'
import { openHead } from './head-tensors.ts'
import type { TokenScorer } from './token-scorer.ts'

/**
 * Runs block the thread. Equal calls give equal bits.
 * @param options.viewTokens tokens of the longest sequence, for the memory budget
 * @throws tensor-mismatch for a checkpoint without a head, and what loadFrozenLm throws
 */
export async function loadTokenScorer(options: {
  readonly directory: string
  readonly execution?: Partial<Pick<Execution, 'weights' | 'memoryBytes'>>
  readonly viewTokens?: number
}): Promise<TokenScorer> {
  const { directory, execution = {} } = options
  const checkpoint = openCheckpoint(directory)
  const head = openHead(checkpoint)
  const lm = await loadFrozenLm({ ...options, layer: checkpoint.config.layerCount })
  try {
    return assembleScorer(lm, await loadHead(head, completeExecution(execution)))
  } catch (thrown) {
    await lm.close()
    throw thrown
  }
}

function assembleScorer(lm: FrozenLm, head: ort.InferenceSession): TokenScorer {
  const { hiddenSize, contextLength } = lm.info
  return {
    contextLength,
    async read(tokens, past) {
      const { state } = await lm.prefill(tokens, { past, rows: 'last', keepState: true })
      return invariant(state, 'the state was asked for')
    },
    async score(tokens, { past, from }) {
      invariant(from >= 1 && from < tokens.length, 'a scored token has one before it in the same run')
      const rows = Array.from({ length: tokens.length - from }, (_, k) => from - 1 + k)
      // Nothing follows the last token.
      const read = tokens.subarray(0, tokens.length - 1)
      const { hidden } = await lm.prefill(read, { past, rows, keepState: false })
      const wanted = BigInt64Array.from(tokens.subarray(from), BigInt)
      const outputs = await run(head, {
        [HEAD_NAMES.hidden]: new ort.Tensor('float32', hidden.data, [rows.length, hiddenSize]),
        [HEAD_NAMES.tokens]: new ort.Tensor('int64', wanted, [rows.length, 1]),
      })
      return finite(outputs[HEAD_NAMES.logProbabilities]?.data)
    },
    dispose: lm.dispose,
    async close() {
      await head.release()
      await lm.close()
    },
  }
}

async function loadHead(head: Checkpoint, execution: Execution): Promise<ort.InferenceSession> {
  const { variant, options } = planSession(head, execution)
  try {
    return await ort.InferenceSession.create(buildHeadGraph(head, variant), options)
  } catch (cause) {
    throw failed(`cannot load the head of ${head.directory}`, cause)
  }
}

async function run(
  session: ort.InferenceSession,
  feeds: Record<string, ort.Tensor>,
): Promise<Record<string, ort.Tensor>> {
  try {
    return { ...(await session.run(feeds)) }
  } catch (cause) {
    throw failed('a run of the language model head failed', cause)
  }
}

function failed(what: string, cause: unknown): AppError {
  return new AppError('session-failed', `${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
}

function finite(data: unknown): Float32Array {
  if (!(data instanceof Float32Array)) throw new AppError('invariant', 'the head returned no float32 values')
  const index = data.findIndex((value) => !Number.isFinite(value))
  if (index === -1) return data
  throw new AppError(
    'output-not-finite',
    `the log-probability of token ${index} is ${data[index]}: final norm or head are damaged; \`keepready models verify\` names the tensor`,
    { details: { row: index } },
  )
}

/** keepready models info: what a checkpoint is, what reading it will take, how fast it is here. */
import { Command } from 'commander'
import { type Checkpoint, openCheckpoint } from '../../../models/frozen-lm/checkpoint.ts'
import { loadFrozenLm, resolveLayer } from '../../../models/frozen-lm/load-frozen-lm.ts'
import { estimateMemory } from '../../../models/frozen-lm/memory-estimate.ts'
import { isHalfPrecision, resolveWeights } from '../../../models/frozen-lm/session-plan.ts'
import { elementCount } from '../../../models/safetensors.ts'
import { loadTokenizer } from '../../../models/tokenizer/hf-tokenizer.ts'
import { DEFAULT_BUDGETS } from '../../view/recipe.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { findModel } from '../find-model.ts'
import { formatBytes } from '../format-bytes.ts'
import { formatCount } from '../progress.ts'
import { withAction } from '../run-action.ts'
import { wholeNumber } from '../whole-number.ts'

interface InfoFlags {
  readonly layer: string
  readonly tokens: string
  readonly probe: boolean
}

export interface ModelFacts {
  readonly directory: string
  readonly architecture: string
  readonly layers: number
  readonly hiddenSize: number
  readonly contextLength: number
  readonly vocabularySize: number
  readonly tokenizerSize: number
  /** Of the matrices, most weights first. */
  readonly dtypes: readonly string[]
  /** Weights that are read at full depth. */
  readonly parameters: number
  readonly bytes: number
  readonly layer: number
  readonly tokens: number
  readonly weights: 'mmap' | 'resident'
  readonly memory: ReturnType<typeof estimateMemory>
  /** Measured: the faster of two runs. */
  readonly tokensPerSecond: number | null
}

/** Long enough for the matrix product to be at its rate, short enough for a 7 B model to answer within a minute. */
const PROBE_TOKENS = 256
const PROBE_RUNS = 2

export function createInfo(): Command {
  const command = new Command('info')
    .summary('what a model is, and what reading it takes')
    .description(
      'Says what a checkpoint is and what reading it takes: memory is estimated from its config (within 15 % of measured ' +
        'runs), tokens per second are measured with --probe. Layers above --layer are never loaded.',
    )
    .argument('<model>', 'a directory, ORGANISATION/NAME that was pulled, a .gguf file, or tiny')
    .option('--layer <number>', 'layer that is read, from 1; 0 = embeddings', 'default')
    .option('--tokens <number>', 'tokens of the view that memory is estimated for', String(DEFAULT_BUDGETS.view))
    .option('--probe', `measure tokens per second with runs of ${PROBE_TOKENS} tokens`, false)
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready models info tiny --probe\n' +
        '  $ keepready models info HuggingFaceTB/SmolLM2-135M-Instruct --layer 20 --tokens 8192',
    )
  return withAction<InfoFlags>(command, async (context, flags, [model = '']) => runInfo(context, flags, model))
}

async function runInfo(context: CommandContext, flags: InfoFlags, model: string): Promise<CommandResult> {
  const tokens = wholeNumber('--tokens', flags.tokens, 1)
  const wanted = flags.layer === 'default' ? 'default' : wholeNumber('--layer', flags.layer, 0)
  const directory = await findModel(model, context)
  const checkpoint = openCheckpoint(directory)
  const { config } = checkpoint
  const layer = resolveLayer({ directory, wanted, layerCount: config.layerCount })
  const weights = resolveWeights('auto', isHalfPrecision(checkpoint))
  const facts: ModelFacts = {
    directory,
    architecture: config.architecture,
    layers: config.layerCount,
    hiddenSize: config.hiddenSize,
    contextLength: config.contextLength,
    vocabularySize: config.vocabularySize,
    tokenizerSize: loadTokenizer(directory).vocabularySize,
    ...countWeights(checkpoint),
    layer,
    tokens,
    weights,
    memory: estimateMemory(checkpoint, { layer, tokens, weights }),
    tokensPerSecond: flags.probe ? await probe(context, { directory, layer }) : null,
  }
  return { data: facts, text: describe(facts) }
}

function countWeights(checkpoint: Checkpoint): Pick<ModelFacts, 'dtypes' | 'parameters' | 'bytes'> {
  const byDtype = new Map<string, number>()
  let bytes = 0
  for (const { dtype, shape, sizeBytes } of checkpoint.tensors.values()) {
    byDtype.set(dtype, (byDtype.get(dtype) ?? 0) + elementCount(shape))
    bytes += sizeBytes
  }
  const sorted = [...byDtype].sort(([, a], [, b]) => b - a)
  return {
    dtypes: sorted.map(([dtype]) => dtype),
    parameters: sorted.reduce((sum, [, count]) => sum + count, 0),
    bytes,
  }
}

async function probe(
  context: CommandContext,
  model: { readonly directory: string; readonly layer: number },
): Promise<number> {
  const lm = await loadFrozenLm(model)
  try {
    const length = Math.min(PROBE_TOKENS, lm.info.contextLength)
    const tokens = Int32Array.from({ length }, (_, i) => (i * 7) % lm.info.vocabularySize)
    let best = 0
    // The first run also maps weights and fills the arena: it is not counted.
    for (let run = 0; run <= PROBE_RUNS; run++) {
      context.signal.throwIfAborted()
      const startMs = context.nowMs()
      await lm.prefill(tokens, { past: null, rows: 'last', keepState: false })
      if (run > 0) best = Math.max(best, (1000 * length) / (context.nowMs() - startMs))
    }
    return best
  } finally {
    await lm.close()
  }
}

function describe(facts: ModelFacts): string {
  const { memory, layer, tokens } = facts
  const perToken = memory.keyValueBytesPerToken
  const short = tokens > facts.contextLength ? `, more than its context of ${formatCount(facts.contextLength)}` : ''
  const rows: readonly (readonly [string, string])[] = [
    ['model', facts.directory],
    ['architecture', `${facts.architecture}, ${facts.layers} layers, hidden size ${facts.hiddenSize}`],
    ['weights', `${formatCount(facts.parameters)} in ${facts.dtypes.join(' + ')}, ${formatBytes(facts.bytes)}`],
    ['context', `${formatCount(facts.contextLength)} tokens`],
    ['tokenizer', `${formatCount(facts.tokenizerSize)} tokens, embedding of ${formatCount(facts.vocabularySize)} rows`],
    ['read at', `layer ${layer}, weights ${facts.weights === 'mmap' ? 'mapped from the file' : 'in memory as F32'}`],
    [
      'memory',
      `about ${formatBytes(memory.totalBytes)} for a view of ${formatCount(tokens)} tokens${short}: ` +
        `weights ${formatBytes(memory.weightBytes)}, runtime and tokenizer ${formatBytes(memory.baseBytes + memory.tokenizerBytes)}, ` +
        `${formatBytes(memory.activationBytesPerToken + perToken)} a token`,
    ],
    [
      'KV',
      `${formatBytes(perToken)} a token, ${formatBytes(perToken * tokens + memory.stateBytes)} for the view` +
        (memory.stateBytes > 0 ? ` with ${formatBytes(memory.stateBytes)} of recurrent state` : ''),
    ],
    [
      'speed',
      facts.tokensPerSecond === null
        ? 'not measured: --probe'
        : `${formatCount(facts.tokensPerSecond)} tokens/s (runs of ${PROBE_TOKENS}, one thread)`,
    ],
  ]
  return rows.map(([name, value]) => `${name.padEnd(14)}${value}`).join('\n')
}

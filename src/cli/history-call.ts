/**
 * What `score`, `plan` and `compact` share: their options, and one call of the history service with the frozen LM in a
 * worker thread.
 */
import { type Command, Option } from 'commander'
import { cacheFolders } from '../../models/cache-folders.ts'
import { startWorkerExtractor } from '../../models/frozen-lm/worker-extractor.ts'
import type { CallContext } from '../../server/history-service.ts'
import { createHistoryService, type HistoryService } from '../../server/history-service.ts'
import { openReadiness } from '../../server/open-readiness.ts'
import { createStageClock } from '../../server/stage-clock.ts'
import type { PlanRequest } from '../../server/wire/requests.schema.ts'
import { AppError } from '../errors.ts'
import { HISTORY_FORMATS, type HistoryFormat, type Pins } from '../protocol/history.ts'
import { THINKING_BINDINGS, type ThinkingBinding } from '../protocol/thinking-binding.ts'
import { DEFAULT_OPERATING_POINT, OPERATING_POINT_NAMES, type OperatingPointName } from '../router/operating-points.ts'
import type { CommandContext } from './command-context.ts'
import { readEnvironment } from './environment.ts'
import { type ExecutionFlags, executionOf, withExecutionOptions } from './execution-options.ts'
import { findModel } from './find-model.ts'
import { readText } from './read-text.ts'
import { wholeNumberParser } from './whole-number.ts'

export interface HistoryOptions extends ExecutionFlags {
  readonly format: HistoryFormat
  readonly router: string
  readonly model?: string
  readonly operatingPoint: OperatingPointName
  readonly pin: readonly string[]
  readonly minSpanInteractions?: number
  readonly minSourceTokens?: number
  readonly repair?: boolean
  readonly dangling?: 'drop' | 'close'
  readonly thinkingBinding?: ThinkingBinding
}

export function withFormatOption(command: Command): Command {
  return command.addOption(
    new Option('--format <name>', "the history's message format").choices(HISTORY_FORMATS).makeOptionMandatory(),
  )
}

export function danglingOption(): Option {
  return new Option(
    '--dangling <how>',
    'in a repair: drop a call that was never answered, or close it by an error result',
  )
    .choices(['drop', 'close'])
    .default('drop')
}

export function withHistoryOptions(command: Command): Command {
  return withExecutionOptions(withFormatOption(command))
    .argument('<history.json>', 'a message list or a request body, as you would send it to the provider; - reads stdin')
    .requiredOption('--router <dir>', 'directory that `keepready train` wrote')
    .option('--model <name>', 'frozen LM the router was trained on (default: the one router.json names)')
    .addOption(
      new Option('--operating-point <name>', 'threshold, chosen on validation')
        .choices(OPERATING_POINT_NAMES)
        .default(DEFAULT_OPERATING_POINT),
    )
    .option('--pin <kind:value>', 'never touch tool:NAME, pattern:TEXT or id:CALL_ID (repeatable)', collect, [])
}

export function withPlanOptions(command: Command): Command {
  return withHistoryOptions(command)
    .option(
      '--min-span-interactions <n>',
      'kappa: a span needs more than this many interactions (default: 3)',
      wholeNumberParser(0),
    )
    .option(
      '--min-source-tokens <n>',
      "B_min: source tokens a span needs, by the acting model's tokenizer (default: 1000)",
      wholeNumberParser(0),
    )
    .option('--repair', 'repair an invalid history first instead of rejecting it; what changed is in the result')
    .addOption(danglingOption())
    .addOption(
      new Option('--thinking-binding <how>', 'prefix: leave out signed thinking behind an edited place; auto: by model')
        .choices(THINKING_BINDINGS)
        .default('auto'),
    )
}

/** Reads the history, opens router and model, calls, and closes them again. */
export async function callHistoryService<T>(call: {
  readonly context: CommandContext
  readonly options: HistoryOptions
  /** - is stdin. */
  readonly path: string
  readonly use: (service: HistoryService, input: HistoryCall) => Promise<T>
}): Promise<T> {
  const { context, options } = call
  const request = requestOf(options)
  const text = readText(call.path)
  const readiness = await openReadiness({
    routerDirectory: options.router,
    model: options.model === undefined ? null : await findModel(options.model, context),
    caches: cacheFolders(readEnvironment()),
    operatingPoint: options.operatingPoint,
    maxQueueTokens: Number.POSITIVE_INFINITY,
    execution: executionOf(options),
    startExtractor: startWorkerExtractor,
    nowMs: context.nowMs,
    onExtraction: () => undefined,
    onNote: (line) => context.writeErr(`${line}\n`),
  })
  try {
    return await call.use(createHistoryService(readiness.model), {
      text,
      request,
      context: { signal: context.signal, clock: createStageClock(context.nowMs) },
      representationId: readiness.extractor === null ? null : readiness.router.manifest.representationId,
    })
  } finally {
    await readiness.close()
  }
}

export interface HistoryCall {
  readonly text: string
  readonly request: PlanRequest
  readonly context: CallContext
  readonly representationId: string | null
}

function requestOf(options: HistoryOptions): PlanRequest {
  return {
    format: options.format,
    operatingPoint: options.operatingPoint,
    pins: pinsOf(options.pin),
    minSpanInteractions: options.minSpanInteractions ?? null,
    minSourceTokens: options.minSourceTokens ?? null,
    labelledReady: null,
    repair: options.repair === true ? { danglingCalls: options.dangling ?? 'drop' } : null,
    thinkingBinding: options.thinkingBinding ?? 'auto',
  }
}

function pinsOf(pins: readonly string[]): Pins {
  const values = (kind: string): string[] =>
    pins.filter((pin) => pin.startsWith(`${kind}:`)).map((pin) => pin.slice(kind.length + 1))
  const unknown = pins.find((pin) => !/^(tool|pattern|id):./s.test(pin))
  if (unknown !== undefined) {
    throw new AppError('option-invalid', `--pin ${unknown}: write tool:NAME, pattern:TEXT or id:CALL_ID`)
  }
  return { toolNames: values('tool'), patterns: values('pattern'), callIds: values('id') }
}

function collect(value: string, previous: readonly string[]): string[] {
  return [...previous, value]
}

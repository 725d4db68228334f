/**
 * The flags of `annotate --annotator llm`: read, checked, and refused where they do not belong.
 */
import { readFile } from 'node:fs/promises'
import { Option } from 'commander'
import { type CallLimits, DEFAULT_LIMITS } from '../../data/annotate/llm/limits.ts'
import { readPriceFile } from '../../data/annotate/llm/prices.schema.ts'
import type { Prices } from '../../data/annotate/llm/prices.ts'
import { type ChatEndpoint, parseEndpoint } from '../../models/chat/endpoint.ts'
import { DEFAULT_RETRY } from '../../models/chat/retry.ts'
import { DEFAULT_MAX_CHECKPOINTS_PER_RUN } from '../../training/choose-checkpoints.ts'
import { AppError } from '../errors.ts'
import { wholeNumber } from './whole-number.ts'

/** As commander gives them: undefined unless the person set them. */
export interface LlmFlags {
  readonly endpoint?: string
  readonly model?: string
  readonly yes?: boolean
  readonly redact?: boolean
  readonly estimate?: boolean
  readonly budget?: string
  readonly priceIn?: string
  readonly priceOut?: string
  readonly prices?: string
  readonly concurrency?: string
  readonly maxRetries?: string
  readonly maxCheckpointsPerRun?: string
  readonly contextTokens?: string
  readonly maxOutputTokens?: string
  readonly journal?: string
  readonly apiKeyEnv?: string
  readonly stream?: boolean
}

export interface LlmSettings {
  readonly endpoint: ChatEndpoint
  readonly model: string
  readonly apiKey: string | null
  readonly consent: 'none' | 'as-it-is' | 'redacted'
  readonly estimateOnly: boolean
  readonly budgetUsd: number | null
  readonly prices: Prices | null
  readonly concurrency: number
  readonly maxRetries: number
  readonly maxCheckpointsPerRun: number
  readonly limits: CallLimits
  /** null: beside --out. */
  readonly journal: string | null
  readonly stream: boolean
}

export const DEFAULT_API_KEY_ENV = 'KEEPREADY_API_KEY'
const DEFAULT_CONCURRENCY = 4

/** Options without commander defaults, so that one set for the other annotator is seen and refused. */
export const LLM_OPTIONS: readonly Option[] = [
  new Option('--endpoint <url>', 'llm: base URL of an OpenAI-compatible server, e.g. http://localhost:8000/v1'),
  new Option(
    '--model <name>',
    'llm: model as that server names it; counterfactual: tiny (default), a checkpoint directory ...',
  ),
  new Option('--yes', 'llm: yes, send the runs there as they are'),
  new Option('--redact', 'llm: send the runs there with secrets masked'),
  new Option('--estimate', 'llm, counterfactual: count calls or tokens, and price or time; do nothing else'),
  new Option('--budget <usd>', 'llm: stop before the journal has cost more; needs prices'),
  new Option('--price-in <usd>', 'llm: price of a million prompt tokens'),
  new Option('--price-out <usd>', 'llm: price of a million answer tokens'),
  new Option('--prices <file>', 'llm: dated price table, see docs/annotate-llm.md'),
  new Option('--concurrency <n>', `llm: calls at a time (default: ${DEFAULT_CONCURRENCY})`),
  new Option('--max-retries <n>', `llm: attempts after the first (default: ${DEFAULT_RETRY.maxRetries})`),
  new Option(
    '--max-checkpoints-per-run <n>',
    `llm: longer runs are judged at this many, the same as extract draws (default: ${DEFAULT_MAX_CHECKPOINTS_PER_RUN})`,
  ),
  new Option('--context-tokens <n>', `llm: prompt and answer of one call (default: ${DEFAULT_LIMITS.contextTokens})`),
  new Option('--max-output-tokens <n>', `llm: longest answer (default: ${DEFAULT_LIMITS.maxOutputTokens})`),
  new Option(
    '--journal <file>',
    'llm, counterfactual: all answers or measurements, for going on after a stop (default: beside OUT)',
  ),
  new Option('--api-key-env <name>', `llm: environment variable with the key (default: ${DEFAULT_API_KEY_ENV})`),
  new Option('--no-stream', 'llm: ask for whole answers'),
]

/** Read by the counterfactual annotator too. */
const SHARED: readonly (string | undefined)[] = ['--model', '--estimate', '--journal']

/** @throws option-invalid if a flag of this annotator is set for another one */
export function refuseLlmFlags(flags: LlmFlags, annotator: string): void {
  const given = LLM_OPTIONS.find((option) => {
    if (annotator === 'counterfactual' && SHARED.includes(option.long)) return false
    const value: unknown = Object.entries(flags).find(([name]) => name === option.attributeName())?.[1]
    return option.long === '--no-stream' ? value === false : value !== undefined
  })
  if (given === undefined) return
  throw new AppError('option-invalid', `${given.long} belongs to --annotator llm, not to ${annotator}: leave it out`)
}

/** @throws option-invalid, file-not-found */
export async function readLlmFlags(
  flags: LlmFlags,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<LlmSettings> {
  const endpoint = parseEndpoint(required('--endpoint', flags.endpoint))
  const model = required('--model', flags.model)
  const prices = await readPrices(flags, model)
  const budgetUsd = flags.budget === undefined ? null : dollars('--budget', flags.budget)
  if (budgetUsd !== null && prices === null)
    throw new AppError('option-invalid', '--budget needs prices: give --price-in and --price-out, or --prices FILE')
  return {
    endpoint,
    model,
    apiKey: readApiKey(flags.apiKeyEnv, environment),
    consent: flags.redact === true ? 'redacted' : flags.yes === true ? 'as-it-is' : 'none',
    estimateOnly: flags.estimate === true,
    budgetUsd,
    prices,
    concurrency: whole('--concurrency', flags.concurrency, { least: 1, otherwise: DEFAULT_CONCURRENCY }),
    maxRetries: whole('--max-retries', flags.maxRetries, { least: 0, otherwise: DEFAULT_RETRY.maxRetries }),
    maxCheckpointsPerRun: whole('--max-checkpoints-per-run', flags.maxCheckpointsPerRun, {
      least: 1,
      otherwise: DEFAULT_MAX_CHECKPOINTS_PER_RUN,
    }),
    limits: {
      contextTokens: whole('--context-tokens', flags.contextTokens, {
        least: 1,
        otherwise: DEFAULT_LIMITS.contextTokens,
      }),
      maxOutputTokens: whole('--max-output-tokens', flags.maxOutputTokens, {
        least: 1,
        otherwise: DEFAULT_LIMITS.maxOutputTokens,
      }),
    },
    journal: flags.journal ?? null,
    stream: flags.stream !== false,
  }
}

function required(flag: string, value: string | undefined): string {
  if (value !== undefined && value !== '') return value
  throw new AppError('option-invalid', `--annotator llm needs ${flag}`)
}

function whole(
  flag: string,
  text: string | undefined,
  rule: { readonly least: number; readonly otherwise: number },
): number {
  return text === undefined ? rule.otherwise : wholeNumber(flag, text, rule.least)
}

function dollars(flag: string, text: string): number {
  const value = Number(text)
  if (/^\d*\.?\d+$/.test(text) && Number.isFinite(value)) return value
  throw new AppError('option-invalid', `${flag} ${text} is no amount of US dollars: give a number such as 2.50`)
}

async function readPrices(flags: LlmFlags, model: string): Promise<Prices | null> {
  const { priceIn, priceOut, prices } = flags
  if (prices !== undefined) {
    if (priceIn !== undefined || priceOut !== undefined)
      throw new AppError('option-invalid', 'give --prices or --price-in and --price-out, not both')
    const read = readPriceFile(await readText(prices), model)
    if (read.ok) return read.prices
    throw new AppError('option-invalid', `--prices ${prices}: ${read.problem}; docs/annotate-llm.md has an example`)
  }
  if (priceIn === undefined && priceOut === undefined) return null
  if (priceIn === undefined || priceOut === undefined)
    throw new AppError('option-invalid', '--price-in and --price-out belong together: give both')
  const input = dollars('--price-in', priceIn)
  return { input, cachedInput: input, output: dollars('--price-out', priceOut), date: null }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new AppError('file-not-found', `--prices ${path} cannot be read (${String(cause)}): check the path`, {
      cause,
    })
  }
}

/** A key is never taken from a variable that was not meant for this program: it would go to whatever the endpoint is. */
function readApiKey(
  name: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): string | null {
  const key = environment[name ?? DEFAULT_API_KEY_ENV]
  if (key !== undefined && key.trim() !== '') {
    if (/^[\x21-\x7e]+$/.test(key.trim())) return key.trim()
    throw new AppError('option-invalid', `${name ?? DEFAULT_API_KEY_ENV} holds blanks or other characters no key has`)
  }
  if (name === undefined) return null
  throw new AppError('option-invalid', `--api-key-env ${name}: this environment variable is not set`)
}

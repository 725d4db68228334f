/**
 * The server's configuration: every field has a unit, a default and a consequence. Flag = environment = file, in that
 * order of precedence; unknown keys are errors; frozen after parsing; printed at start and served at /info.
 */
import { z } from 'zod'
import { DEVICES, type ServedExecution, WEIGHTS_MODES } from '../models/frozen-lm/execution.ts'
import { DEFAULT_PREFIX_CACHE_MB } from '../models/frozen-lm/prefix-cache.ts'
import { AppError } from '../src/errors.ts'
import { DEFAULT_OPERATING_POINT, OPERATING_POINT_NAMES } from '../src/router/operating-points.ts'

const positiveInt = z.coerce.number().int().positive()
const list = z.union([
  z.array(z.string()),
  z.string().transform((text) => text.split(',').filter((item) => item !== '')),
])

const schema = z.strictObject({
  router: z.string().describe('directory of the router artefact'),
  model: z
    .string()
    .nullable()
    .default(null)
    .describe('frozen LM directory or `tiny`; null: the one named in router.json'),
  device: z
    .enum(DEVICES)
    .default('cpu')
    .describe('what the model runs on: cpu, cuda or webgpu; never replaced silently'),
  weights: z
    .enum(WEIGHTS_MODES)
    .default('auto')
    .describe('mmap: mapped from their files; resident: packed copies; auto: mmap for F32 files'),
  memoryMb: positiveInt
    .nullable()
    .default(null)
    .describe('most MB resident in the model process; runs are cut to fit, or it is refused'),
  host: z.string().default('127.0.0.1').describe('address to listen on; one that is not loopback needs a token'),
  port: z.coerce.number().int().min(0).max(65535).default(8088).describe('TCP port; 0 takes a free one'),
  token: z.string().min(1).nullable().default(null).describe('bearer token every request must carry; null: none'),
  allowedHosts: list
    .default([])
    .describe('host names, besides loopback, that requests may name when there is no token'),
  operatingPoint: z
    .enum(OPERATING_POINT_NAMES)
    .default(DEFAULT_OPERATING_POINT)
    .describe('threshold used unless a request names another'),
  maxBodyBytes: positiveInt.default(16 * 1024 * 1024).describe('largest request body; beyond it 413'),
  maxQueueTokens: positiveInt.default(500_000).describe('LM tokens that may wait or run at once; beyond it 429'),
  prefixCacheMb: z.coerce
    .number()
    .int()
    .nonnegative()
    .default(DEFAULT_PREFIX_CACHE_MB)
    .describe('memory for states of earlier requests that later ones start from, MiB; 0: none, same answers, slower'),
  deadlineMs: positiveInt
    .default(120_000)
    .describe('longest a request may take; past it compact answers noop, others 503'),
  drainMs: positiveInt.default(30_000).describe('time for accepted work to end after SIGTERM'),
  logLevel: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default('info').describe('never logs history text'),
})

export type ServerConfig = Readonly<z.infer<typeof schema>>

export const SERVER_CONFIG_FIELDS: readonly { readonly name: keyof ServerConfig; readonly description: string }[] =
  Object.entries(schema.shape).map(([name, field]) => ({
    name: name as keyof ServerConfig,
    description: field.description ?? '',
  }))

/** `maxBodyBytes` -> `KEEPREADY_MAX_BODY_BYTES`. */
export function environmentName(field: string): string {
  return `KEEPREADY_${field.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

/** `maxBodyBytes` -> `--max-body-bytes`. */
export function flagName(field: string): string {
  return `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/**
 * @param sources values by field; undefined = not given there
 * @throws option-invalid naming the field, the value and the limit
 */
export function parseServerConfig(sources: {
  readonly flags: Readonly<Record<string, unknown>>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly file: Readonly<Record<string, unknown>>
}): ServerConfig {
  const merged: Record<string, unknown> = { ...sources.file }
  for (const { name } of SERVER_CONFIG_FIELDS) {
    const fromEnvironment = sources.environment[environmentName(name)]
    if (fromEnvironment !== undefined) merged[name] = fromEnvironment
    if (sources.flags[name] !== undefined) merged[name] = sources.flags[name]
  }
  const parsed = schema.safeParse(merged)
  if (parsed.success) return Object.freeze(parsed.data)
  const problems = parsed.error.issues.map((issue) => {
    const field = issue.path.join('.')
    return field === '' ? issue.message : `${flagName(field)} (${environmentName(field)}): ${issue.message}`
  })
  throw new AppError('option-invalid', `server configuration: ${problems.join('; ')}`)
}

/** How the configured server runs its frozen LM. */
export function executionOf(config: Pick<ServerConfig, 'device' | 'weights' | 'memoryMb'>): ServedExecution {
  const { device, weights, memoryMb } = config
  return { device, weights, memoryBytes: memoryMb === null ? null : memoryMb * 1e6 }
}

/** What /info and the start-up log may show. */
export function publicConfig(config: ServerConfig): Omit<ServerConfig, 'token'> & { readonly token: 'set' | 'none' } {
  return { ...config, token: config.token === null ? 'none' : 'set' }
}

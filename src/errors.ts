/**
 * The closed list of errors. Pure.
 * A code belongs to one family; the family decides the CLI exit code here and the HTTP status in server/http-errors.ts.
 */

export const ERROR_FAMILY = {
  // Input: the caller's request, option or file content is wrong.
  'option-invalid': 'input',
  'file-not-found': 'input',
  'file-unreadable': 'input',
  'format-unknown': 'input',
  'format-ambiguous': 'input',
  'log-malformed': 'input',
  'archive-refused': 'input',
  'rows-invalid': 'input',
  'history-malformed': 'input',
  'history-incomplete': 'input',
  'case-malformed': 'input',
  'labels-mismatch': 'input',
  'runs-incomparable': 'input',
  'request-invalid': 'input',
  'body-too-large': 'input',
  'route-not-found': 'input',
  'media-type-unsupported': 'input',
  'host-not-allowed': 'input',
  'origin-not-allowed': 'input',
  unauthorized: 'input',
  'port-in-use': 'input',
  'listen-refused': 'input',
  'training-data-insufficient': 'input',
  'consent-required': 'input',
  'endpoint-refused': 'input',
  // Artifact: a file that should be good is bad; retrying does not help.
  'model-not-found': 'artifact',
  'config-invalid': 'artifact',
  'architecture-unsupported': 'artifact',
  'tokenizer-missing': 'artifact',
  'tokenizer-invalid': 'artifact',
  'safetensors-missing': 'artifact',
  'safetensors-truncated': 'artifact',
  'safetensors-header-invalid': 'artifact',
  'safetensors-offset-invalid': 'artifact',
  'tensor-mismatch': 'artifact',
  'model-link-escapes': 'artifact',
  'weights-not-finite': 'artifact',
  'gguf-invalid': 'artifact',
  'gguf-unsupported': 'artifact',
  'download-mismatch': 'artifact',
  'layer-out-of-range': 'artifact',
  'router-invalid': 'artifact',
  'router-version-unsupported': 'artifact',
  'representation-mismatch': 'artifact',
  'dataset-incomplete': 'artifact',
  'dataset-invalid': 'artifact',
  // Capacity: try again later, with less, or with more room.
  'queue-full': 'capacity',
  'deadline-exceeded': 'capacity',
  'server-draining': 'capacity',
  'disk-full': 'capacity',
  'context-too-short': 'capacity',
  'memory-budget-too-small': 'capacity',
  'endpoint-unreachable': 'capacity',
  // Inference: the runtime that executes the model failed.
  'device-unavailable': 'inference',
  'device-self-check-failed': 'inference',
  'engine-unavailable': 'inference',
  'session-failed': 'inference',
  'host-crashed': 'inference',
  'output-not-finite': 'inference',
  // Invariant: our bug.
  invariant: 'invariant',
  // The person pressed Ctrl-C.
  interrupted: 'interrupted',
} as const

export type ErrorCode = keyof typeof ERROR_FAMILY
export type ErrorFamily = (typeof ERROR_FAMILY)[ErrorCode]

export const EXIT_CODE = {
  input: 2,
  artifact: 3,
  capacity: 4,
  inference: 5,
  invariant: 70,
  interrupted: 130,
} as const satisfies Record<ErrorFamily, number>

/** Exit code of a batch in which some items failed and the others succeeded. */
export const EXIT_PARTIAL = 1

export type ErrorDetails = Readonly<Record<string, string | number | boolean | null | readonly string[]>>

/**
 * An error with a code from the closed list.
 * The message says what, the value, the limit, where, and what to do next.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.details = options.details ?? {}
  }

  get family(): ErrorFamily {
    return ERROR_FAMILY[this.code]
  }
}

/** Narrowing for values that the caller has just proven to exist; a miss is our bug. */
export function invariant<T>(value: T | null | undefined | false, what: string): T {
  if (value === null || value === undefined || value === false)
    throw new AppError('invariant', `invariant broken: ${what}`)
  return value
}

/** Translates anything thrown into an AppError; unknown things are our bug. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new AppError('invariant', `unexpected failure: ${message}`, { cause: thrown })
}

/**
 * The one table from error code to HTTP status, and the one shape of an error body. No stack trace leaves the process.
 */
import type { AppError, ErrorCode } from '../src/errors.ts'

export const HTTP_STATUS = {
  'option-invalid': 400,
  'file-not-found': 500,
  'file-unreadable': 500,
  'format-unknown': 400,
  'format-ambiguous': 400,
  'log-malformed': 400,
  'archive-refused': 400,
  'rows-invalid': 500,
  'history-malformed': 400,
  'history-incomplete': 422,
  'case-malformed': 400,
  'labels-mismatch': 422,
  'runs-incomparable': 422,
  'request-invalid': 400,
  'body-too-large': 413,
  'route-not-found': 404,
  'media-type-unsupported': 415,
  'host-not-allowed': 403,
  'origin-not-allowed': 403,
  unauthorized: 401,
  'port-in-use': 500,
  'listen-refused': 500,
  'training-data-insufficient': 500,
  'consent-required': 400,
  'endpoint-refused': 502,
  'model-not-found': 500,
  'config-invalid': 500,
  'architecture-unsupported': 500,
  'tokenizer-missing': 500,
  'tokenizer-invalid': 500,
  'safetensors-missing': 500,
  'safetensors-truncated': 500,
  'safetensors-header-invalid': 500,
  'safetensors-offset-invalid': 500,
  'tensor-mismatch': 500,
  'model-link-escapes': 500,
  'weights-not-finite': 500,
  'gguf-invalid': 500,
  'gguf-unsupported': 500,
  'download-mismatch': 500,
  'layer-out-of-range': 500,
  'router-invalid': 500,
  'router-version-unsupported': 500,
  'representation-mismatch': 500,
  'dataset-incomplete': 500,
  'dataset-invalid': 500,
  'queue-full': 429,
  'deadline-exceeded': 503,
  'server-draining': 503,
  'disk-full': 507,
  'context-too-short': 422,
  'memory-budget-too-small': 500,
  'endpoint-unreachable': 503,
  'device-unavailable': 500,
  'device-self-check-failed': 500,
  'engine-unavailable': 500,
  'session-failed': 500,
  'host-crashed': 503,
  'output-not-finite': 500,
  invariant: 500,
  interrupted: 503,
} as const satisfies Record<ErrorCode, number>

export interface ErrorBody {
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly request_id: string }
}

/** Messages of our own bugs stay inside: they may quote values the client must not see. */
export function errorBody(error: AppError, requestId: string): ErrorBody {
  const message =
    error.family === 'invariant' ? `internal error; look for request ${requestId} in the server's log` : error.message
  return { error: { code: error.code, message, request_id: requestId } }
}

/**
 * What the log keeps of an error. The message of a bug may quote the history it happened on, so of bugs only the place
 * is logged.
 */
export function logFields(error: AppError): {
  readonly code: ErrorCode
  readonly reason?: string
  readonly frames: readonly string[]
} {
  const origin = error.cause instanceof Error ? error.cause : error
  const frames = (origin.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return {
    code: error.code,
    ...(error.family === 'invariant' ? {} : { reason: error.message }),
    frames: frames.map((line) => line.trim()),
  }
}

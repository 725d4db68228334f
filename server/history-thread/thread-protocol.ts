/**
 * What is said between the HTTP side and the history thread. Structured-cloneable values; bodies are transferred.
 */
import { fromWireError, toWireError, type WireError } from '../../models/frozen-lm/host-protocol.ts'
import type { ModelCaches } from '../../models/resolve-model.ts'
import type { AppError } from '../../src/errors.ts'
import { toAppError } from '../../src/errors.ts'
import type { ServerConfig } from '../config.schema.ts'
import type { RouterDescription } from '../describe-router.ts'
import type { HistoryCallKind } from '../wire/routes.schema.ts'

/** What the thread is started with. */
export type ThreadOptions = Pick<
  ServerConfig,
  'router' | 'model' | 'operatingPoint' | 'maxQueueTokens' | 'prefixCacheMb' | 'device' | 'weights' | 'memoryMb'
> & { readonly caches: ModelCaches }

/** What probes and metrics show of the thread. */
export interface ThreadStatus {
  /** The model is open; false while its process restarts. */
  readonly ready: boolean
  /** Process id of the model's process; null for a router that needs none. */
  readonly modelProcess: number | null
  readonly restarts: number
  /** Jobs waiting for the frozen LM. */
  readonly waiting: number
  /** Estimated LM tokens waiting or running. */
  readonly queuedTokens: number
  /** LM tokens computed since the start. */
  readonly computedTokens: number
  /** Of the prefix cache since the start: stored states used, states computed, LM tokens spared; its bytes now. */
  readonly prefixHits: number
  readonly prefixMisses: number
  readonly prefixSavedTokens: number
  readonly prefixBytes: number
}

export type ToThread =
  | { readonly kind: 'call'; readonly id: number; readonly call: HistoryCallKind; readonly body: Uint8Array }
  | { readonly kind: 'cancel'; readonly id: number; readonly error: ThreadError }
  | { readonly kind: 'close' }

/** `opened` or `open-failed` comes first and once; one answer to each call; `status` whenever it changed. */
/** Any number of notes first, then `opened` or `open-failed`. */
export type FromThread =
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'opened'; readonly router: RouterDescription; readonly status: ThreadStatus }
  | { readonly kind: 'open-failed'; readonly error: ThreadError }
  | { readonly kind: 'status'; readonly status: ThreadStatus }
  | { readonly kind: 'answered'; readonly id: number; readonly answer: ThreadAnswer }
  | { readonly kind: 'failed'; readonly id: number; readonly error: ThreadError }

/** A HistoryAnswer whose errors can be cloned. */
export interface ThreadAnswer {
  readonly body: Uint8Array
  readonly stages: ReadonlyMap<string, number>
  readonly outcome: { readonly outcome: string; readonly reason: string | null } | null
  readonly noted: readonly ThreadError[]
}

/** An error with the stack of its cause: for the log, never for a client. */
export interface ThreadError extends WireError {
  readonly stack: string
}

export function toThreadError(thrown: unknown): ThreadError {
  const error = toAppError(thrown)
  const origin = error.cause instanceof Error ? error.cause : error
  return { ...toWireError(error), stack: origin.stack ?? origin.message }
}

export function fromThreadError(error: ThreadError): AppError {
  const restored = fromWireError(error)
  restored.stack = error.stack
  return restored
}

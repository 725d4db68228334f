/** What the hub's refusals mean for the person who asked, and what helps. Pure. */
import { AppError } from '../../src/errors.ts'

export interface HubAnswer {
  readonly status: number
  /** The hub's `x-error-code`, e.g. GatedRepo. */
  readonly errorCode: string | null
}

export interface HubQuestion {
  readonly endpoint: string
  readonly model: string
  readonly revision: string
  readonly hasToken: boolean
  /** A file of it, or null for the repository. */
  readonly path: string | null
}

const HOW_TO_LOG_IN = 'set HF_TOKEN, or log in with `hf auth login`'

export function hubRefusal(answer: HubAnswer, question: HubQuestion): AppError {
  const { status, errorCode } = answer
  const { endpoint, model, revision, hasToken, path } = question
  const what = path === null ? model : `${path} of ${model}`
  const details = { status, model, errorCode }
  if (errorCode === 'GatedRepo' || status === 403)
    return new AppError(
      'endpoint-refused',
      `${endpoint} refuses ${what} (${status}): it is gated; accept its terms on ${endpoint}/${model}, ${hasToken ? 'with the account of your token, whose rights must cover gated repositories' : `then ${HOW_TO_LOG_IN}`}`,
      { details },
    )
  if (errorCode === 'RevisionNotFound')
    return new AppError('endpoint-refused', `${model} has no revision ${revision}: see ${endpoint}/${model}/commits`, {
      details,
    })
  if (errorCode === 'EntryNotFound')
    return new AppError('endpoint-refused', `${what} is not there at revision ${revision}`, { details })
  // The hub answers 401 for a repository that does not exist, so as not to tell which private ones do.
  if (status === 401 || status === 404)
    return new AppError(
      'endpoint-refused',
      `${endpoint} has no ${what} for ${hasToken ? 'your token' : 'everybody'} (${status}): check the spelling of the name; if it is private or gated, ${hasToken ? 'the token is wrong, expired or of another account' : HOW_TO_LOG_IN}`,
      { details },
    )
  if (status === 429)
    return new AppError(
      'endpoint-unreachable',
      `${endpoint} takes no more requests for now (429): wait a few minutes and pull again${hasToken ? '' : `; with an account the limit is higher: ${HOW_TO_LOG_IN}`}`,
      { details },
    )
  return new AppError(
    status >= 500 ? 'endpoint-unreachable' : 'endpoint-refused',
    `${endpoint} answered ${status} to a request for ${what}: ${status >= 500 ? 'pull again later; what is there is kept' : 'is it a Hugging Face hub? (--endpoint, HF_ENDPOINT)'}`,
    { details },
  )
}

export function hubUnreachable(endpoint: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : ''
  return new AppError(
    'endpoint-unreachable',
    `cannot reach ${endpoint}${reason === '' ? '' : ` (${reason})`}: check the connection and the address (--endpoint, HF_ENDPOINT), then pull again; what is there is kept`,
    { cause },
  )
}

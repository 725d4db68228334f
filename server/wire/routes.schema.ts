/**
 * The calls about a history and the shapes they are documented with: route and OpenAPI read this one table.
 */
import { compactBody, planBody, scoreBody, validateBody } from './requests.schema.ts'
import { compactResponse, planResponse, scoreResponse, validateResponse } from './responses.schema.ts'

export const HISTORY_CALLS = {
  score: {
    path: '/v1/score',
    summary: 'Readiness of every interaction of a history',
    body: scoreBody,
    response: scoreResponse,
  },
  plan: {
    path: '/v1/plan',
    summary: 'Dry run: which spans would be replaced, and every gate with its number',
    body: planBody,
    response: planResponse,
  },
  compact: {
    path: '/v1/compact',
    summary: 'Replace READY spans by summaries, or give back the history unchanged and say why',
    body: compactBody,
    response: compactResponse,
  },
  validate: {
    path: '/v1/validate',
    summary: "Check a history against its provider's rules, and repair it with fix",
    body: validateBody,
    response: validateResponse,
  },
} as const

export type HistoryCallKind = keyof typeof HISTORY_CALLS
export const HISTORY_CALL_KINDS = Object.keys(HISTORY_CALLS) as readonly HistoryCallKind[]

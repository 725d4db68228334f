import type { RouterSpec } from '../../models/router/spec.ts'
import { AppError } from '../../src/errors.ts'
import { useMask } from './router-graph.ts'

/** @throws invariant unless a dropout mask is given exactly when the spec has dropout */
export function requireMask(spec: RouterSpec, mask: Float32Array | null): void {
  if ((mask !== null) === useMask(spec)) return
  throw new AppError(
    'invariant',
    `a dropout mask is ${mask === null ? 'missing' : 'given'}, dropout ${spec.dropout}, width ${spec.width}`,
  )
}

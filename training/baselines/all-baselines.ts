/**
 * Every baseline that stands beside a router, always, in the order of the report (DESIGN section 13).
 */
import { AGE_POSITION_LENGTH } from './age-position-length.ts'
import type { Baseline } from './baseline.ts'
import { OBSERVATION_TFIDF } from './observation-tfidf.ts'
import { H_ONLY, Q_ONLY } from './one-vector.ts'
import { HQ_ONLY, HQM_LR } from './several-vectors.ts'
import { AGE, DOMAIN, POSITION, RANDOM, SOURCE_LENGTH } from './simple-features.ts'

export const ALL_BASELINES: readonly Baseline[] = [
  RANDOM,
  DOMAIN,
  AGE,
  POSITION,
  SOURCE_LENGTH,
  AGE_POSITION_LENGTH,
  OBSERVATION_TFIDF,
  H_ONLY,
  Q_ONLY,
  HQ_ONLY,
  HQM_LR,
]

/**
 * Which importer a file is for, and by what evidence. Pure.
 */
import { AppError } from '../../src/errors.ts'
import type { Evidence, Importer, LogFile } from './importer.ts'
import { IMPORTERS } from './importers.ts'
import { isObject } from './json-value.ts'

/** Names of the formats that can be read. */
const FORMATS = IMPORTERS.map((importer) => importer.name)

export interface Detected {
  readonly importer: Importer
  readonly evidence: Evidence
}

/**
 * Throws format-unknown (no importer claims it; lists the supported names) and format-ambiguous (several do; lists them).
 */
export function detectFormat(file: LogFile): Detected {
  const claims = IMPORTERS.flatMap((importer): readonly Detected[] => {
    const evidence = importer.detect(file.sample)
    return evidence === null ? [] : [{ importer, evidence }]
  })
  const [claim] = claims
  if (claim === undefined)
    throw new AppError(
      'format-unknown',
      isLoneAnswer(file.sample.document)
        ? `${file.name} is one answer of a provider's API and holds nothing of the history before it: import a log that does`
        : `${file.name} is of no supported format; supported: ${FORMATS.join(', ')}; name one with --format if you know better`,
      { details: { file: file.name, supported: FORMATS } },
    )
  if (claims.length > 1)
    throw new AppError(
      'format-ambiguous',
      `${file.name} could be ${claims.map((one) => `${one.importer.name} (${one.evidence.because})`).join(' or ')}: choose one with --format`,
      { details: { file: file.name, candidates: claims.map((one) => one.importer.name) } },
    )
  return claim
}

/** A response body of Anthropic Messages, OpenAI chat completions or OpenAI Responses, or a list of Gemini candidates. */
function isLoneAnswer(document: unknown): boolean {
  if (!isObject(document)) return false
  if (document.type === 'message' && document.role === 'assistant') return true
  return document.object === 'chat.completion' || document.object === 'response' || Array.isArray(document.candidates)
}

/** Throws option-invalid for a name that no importer has. */
export function importerNamed(name: string): Importer {
  const importer = IMPORTERS.find((candidate) => candidate.name === name)
  if (importer === undefined)
    throw new AppError('option-invalid', `--format ${name} is unknown; use auto, or one of ${FORMATS.join(', ')}`)
  return importer
}

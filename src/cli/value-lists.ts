/**
 * Values of options, single and several: `--positive-weight 1,2,5`. For commander's argParser, which names the option itself.
 */
import { InvalidArgumentError } from 'commander'
import { INPUT_KINDS, type InputKind } from '../../models/router/spec.ts'

export function parseNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('it must be a number.')
  return value
}

/** A seed. */
export function parseInteger(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value)) throw new InvalidArgumentError('it must be an integer.')
  return value
}

/** Each value once, in the order given. */
export function parseNumberList(text: string): readonly number[] {
  const parts = text.split(',')
  const values = parts.map(Number)
  if (parts.some((part) => part.trim() === '') || values.some((value) => !Number.isFinite(value)))
    throw new InvalidArgumentError('numbers with commas between them are needed, e.g. 1,2,5.')
  return [...new Set(values)]
}

export function parseInputKinds(text: string): readonly InputKind[] {
  const words = text.split(',').map((word) => word.trim())
  const kinds = INPUT_KINDS.filter((kind) => words.includes(kind))
  if (kinds.length !== new Set(words).size)
    throw new InvalidArgumentError(`input kinds with commas between them are needed, of ${INPUT_KINDS.join(', ')}.`)
  return kinds
}

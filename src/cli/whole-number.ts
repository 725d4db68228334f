/**
 * Whole numbers from the command line: one rule for what is one, whether an option's parser or an action reads it.
 */
import { InvalidArgumentError } from 'commander'
import { AppError } from '../errors.ts'

/** @returns null unless the text is digits only and the value at least `least` */
function readWhole(text: string, least: number): number | null {
  const value = Number(text)
  return /^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least ? value : null
}

/** @throws option-invalid naming the flag, the value and the limit */
export function wholeNumber(flag: string, text: string, least: number): number {
  const value = readWhole(text, least)
  if (value !== null) return value
  throw new AppError('option-invalid', `${flag} ${text} is no whole number from ${least} on: give it one`, {
    details: { flag, value: text },
  })
}

/** For commander's argParser, which names the option and the value itself. */
export function wholeNumberParser(least: number): (text: string) => number {
  return (text) => {
    const value = readWhole(text, least)
    if (value === null) throw new InvalidArgumentError(`a whole number of at least ${least} is needed.`)
    return value
  }
}

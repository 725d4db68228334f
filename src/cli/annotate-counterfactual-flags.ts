/**
 * The flags of `annotate --annotator counterfactual`: read, checked, and refused where they do not belong. `--model`,
 * `--journal` and `--estimate` are shared with the llm annotator.
 */
import { Option } from 'commander'
import {
  type CounterfactualSettings,
  DEFAULT_COUNTERFACTUAL,
  DEFAULT_QUANTILE,
} from '../../data/annotate/counterfactual/settings.ts'
import { AppError } from '../errors.ts'
import { wholeNumber } from './whole-number.ts'

/** As commander gives them: undefined unless the person set them. */
export interface CounterfactualFlags {
  readonly model?: string
  readonly estimate?: boolean
  readonly journal?: string
  readonly maxActionsPerRun?: string
  readonly placebos?: string
  readonly quantile?: string
  readonly actionTokens?: string
  readonly targetTokens?: string
}

export interface CounterfactualJob {
  readonly model: string
  readonly estimateOnly: boolean
  /** null: beside --out. */
  readonly journal: string | null
  readonly quantile: number
  readonly settings: CounterfactualSettings
}

const DEFAULT = DEFAULT_COUNTERFACTUAL

/** Options without commander defaults, so that one set for another annotator is seen and refused. */
export const COUNTERFACTUAL_OPTIONS: readonly Option[] = [
  new Option(
    '--max-actions-per-run <n>',
    `counterfactual: actions of a longer run that are measured (default: ${DEFAULT.maxActionsPerRun})`,
  ),
  new Option(
    '--placebos <n>',
    `counterfactual: interactions of other groups that stand in for targets of like length (default: ${DEFAULT.placebos})`,
  ),
  new Option(
    '--quantile <share>',
    `counterfactual: share of the placebos' gains that a gain must exceed; changing it measures nothing again (default: ${DEFAULT_QUANTILE})`,
  ),
  new Option(
    '--action-tokens <n>',
    `counterfactual: first tokens of an action whose probability counts (default: ${DEFAULT.actionTokens})`,
  ),
  new Option(
    '--target-tokens <n>',
    `counterfactual: most tokens of an interaction in a view (default: ${DEFAULT.targetTokens})`,
  ),
]

/** @throws option-invalid if a flag of this annotator is set for another one */
export function refuseCounterfactualFlags(flags: CounterfactualFlags, annotator: string): void {
  const given = COUNTERFACTUAL_OPTIONS.find((option) =>
    Object.entries(flags).some(([name, value]) => name === option.attributeName() && value !== undefined),
  )
  if (given === undefined) return
  throw new AppError(
    'option-invalid',
    `${given.long} belongs to --annotator counterfactual, not to ${annotator}: leave it out`,
  )
}

/** @throws option-invalid */
export function readCounterfactualFlags(flags: CounterfactualFlags, seed: number): CounterfactualJob {
  const whole = (flag: string, text: string | undefined, otherwise: number, least = 1): number =>
    text === undefined ? otherwise : wholeNumber(flag, text, least)
  return {
    model: flags.model ?? 'tiny',
    estimateOnly: flags.estimate === true,
    journal: flags.journal ?? null,
    quantile: readQuantile(flags.quantile),
    settings: {
      ...DEFAULT,
      targetTokens: whole('--target-tokens', flags.targetTokens, DEFAULT.targetTokens, 16),
      actionTokens: whole('--action-tokens', flags.actionTokens, DEFAULT.actionTokens),
      maxActionsPerRun: whole('--max-actions-per-run', flags.maxActionsPerRun, DEFAULT.maxActionsPerRun),
      placebos: whole('--placebos', flags.placebos, DEFAULT.placebos, 2),
      seed,
    },
  }
}

function readQuantile(text: string | undefined): number {
  if (text === undefined) return DEFAULT_QUANTILE
  const value = Number(text)
  if (text.trim() !== '' && value > 0 && value < 1) return value
  throw new AppError('option-invalid', `--quantile ${text} is no share between 0 and 1: give one such as 0.95`)
}

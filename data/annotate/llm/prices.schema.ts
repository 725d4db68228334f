/**
 * A price file: `{"date": "2026-01-31", "models": {"name": {"input": 0.15, "cached_input": 0.075, "output": 0.6}}}`, US
 * dollars per million tokens.
 */
import { z } from 'zod'
import type { Prices } from './prices.ts'

const dollars = z.number().nonnegative().finite()

const priceFile = z.strictObject({
  date: z.iso.date(),
  models: z.record(z.string(), z.strictObject({ input: dollars, cached_input: dollars.optional(), output: dollars })),
})

export type ReadPrices =
  | { readonly ok: true; readonly prices: Prices }
  | { readonly ok: false; readonly problem: string }

export function readPriceFile(text: string, model: string): ReadPrices {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return { ok: false, problem: 'it is no JSON' }
    throw thrown
  }
  const parsed = priceFile.safeParse(value)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    return { ok: false, problem: `${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'wrong shape'}` }
  }
  const entry = Object.hasOwn(parsed.data.models, model) ? parsed.data.models[model] : undefined
  if (entry === undefined)
    return { ok: false, problem: `it has no model ${model}, only ${Object.keys(parsed.data.models).join(', ')}` }
  const { input, output, cached_input: cachedInput = input } = entry
  return { ok: true, prices: { input, cachedInput, output, date: parsed.data.date } }
}

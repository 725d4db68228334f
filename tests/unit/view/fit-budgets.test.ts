import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { fitBudgets } from '../../../src/view/fit-budgets.ts'
import { DEFAULT_BUDGETS } from '../../../src/view/recipe.ts'

const fixed = { readoutTokens: 28, prefixTokens: 1 }

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
  return 'none'
}

describe('fitting section budgets', () => {
  it('leaves the default budgets alone in a model with room for the view', () => {
    const { head, recent, state, target } = DEFAULT_BUDGETS
    expect(fitBudgets({ budgets: DEFAULT_BUDGETS, contextLength: 8192, ...fixed })).toEqual({
      head,
      recent,
      state,
      target,
    })
  })

  it('scales every section down to a model with a shorter context', () => {
    const { head, recent, state, target } = fitBudgets({ budgets: DEFAULT_BUDGETS, contextLength: 1024, ...fixed })
    expect([head, recent, state, target]).toEqual([127, 408, 204, 255])
    expect(head + recent + state + target + 29).toBeLessThanOrEqual(1024)
  })

  it('refuses a context that only holds the readout lines', () => {
    expect(codeOf(() => fitBudgets({ budgets: DEFAULT_BUDGETS, contextLength: 40, ...fixed }))).toBe(
      'context-too-short',
    )
  })

  it('refuses budgets that are no positive whole numbers and readout lines over their budget', () => {
    const with_ = (budgets: object) => ({ budgets: { ...DEFAULT_BUDGETS, ...budgets }, contextLength: 8192, ...fixed })
    expect(codeOf(() => fitBudgets(with_({ head: 0 })))).toBe('option-invalid')
    expect(codeOf(() => fitBudgets(with_({ target: 12.5 })))).toBe('option-invalid')
    expect(codeOf(() => fitBudgets(with_({ readout: 20 })))).toBe('option-invalid')
  })
})

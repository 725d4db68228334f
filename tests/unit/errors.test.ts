import { describe, expect, it } from 'vitest'
import { HTTP_STATUS } from '../../server/http-errors.ts'
import { AppError, ERROR_FAMILY, EXIT_CODE, invariant, toAppError } from '../../src/errors.ts'

describe('errors', () => {
  it('give every code a family with an exit code and an HTTP status', () => {
    expect(Object.keys(HTTP_STATUS).sort()).toEqual(Object.keys(ERROR_FAMILY).sort())
    for (const family of Object.values(ERROR_FAMILY)) expect(EXIT_CODE[family]).toBeGreaterThan(0)
  })

  it('keep the cause', () => {
    const cause = new Error('below')
    expect(new AppError('disk-full', 'full', { cause }).cause).toBe(cause)
  })

  it('treat unknown failures as our bug and known ones as they are', () => {
    expect(toAppError(new TypeError('x is not a function')).code).toBe('invariant')
    const known = new AppError('queue-full', 'later')
    expect(toAppError(known)).toBe(known)
  })

  it('narrow what must exist', () => {
    expect(invariant(0, 'zero is a value')).toBe(0)
    expect(() => invariant(undefined, 'row 3 exists')).toThrow(/row 3 exists/)
  })
})

import { describe, expect, it } from 'vitest'
import { findRun } from '../../../src/cli/find-run.ts'
import { runOf } from '../evidence/run-of.ts'

const runs = ['pi/1', 'pi/12', 'pi/abc-1', 'tau/abd-2'].map((id) => runOf({ id, steps: [{}] }))

describe('the run that a person means', () => {
  it('is the one of this id, although others begin with it', () => {
    expect(findRun(runs, 'pi/1').id).toBe('pi/1')
  })

  it('is the only one that begins with it, else the only one that holds it', () => {
    expect(findRun(runs, 'pi/a').id).toBe('pi/abc-1')
    expect(findRun(runs, 'abd').id).toBe('tau/abd-2')
  })

  it('is not guessed: the runs that fit are named', () => {
    expect(() => findRun(runs, 'pi/')).toThrow(/^3 runs fit "pi\/": pi\/1, pi\/12, pi\/abc-1; give more of the id$/)
    expect(() => findRun(runs, 'ab')).toThrow(/^2 runs fit "ab"/)
  })

  it('is not there: the nearest ids are named', () => {
    expect(() => findRun(runs, 'tau/abe-2')).toThrow(/^no run is called "tau\/abe-2"; nearest of 4: tau\/abd-2, /)
    expect(() => findRun(runs, 'x')).toThrow(expect.objectContaining({ code: 'option-invalid' }))
  })
})

import { describe, expect, it } from 'vitest'
import { invocationOf } from '../../../src/cli/invocation.ts'

describe('invocationOf', () => {
  it('is the command name where it is installed', () => {
    expect(invocationOf('/home/me/project/node_modules/.bin/keepready', '/home/me/project')).toBe('keepready')
    expect(invocationOf(undefined, '/')).toBe('keepready')
  })

  it('is the script in a clone, as short as it can be typed', () => {
    expect(invocationOf('/home/me/keepready/bin/keepready.js', '/home/me/keepready')).toBe('node bin/keepready.js')
    expect(invocationOf('/home/me/keepready/bin/keepready.js', '/home/me/logs')).toBe(
      'node /home/me/keepready/bin/keepready.js',
    )
  })
})

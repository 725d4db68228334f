import { describe, expect, it } from 'vitest'
import { sweAgentGroup, taskGroup, textKey, whoAndWhenGroup } from '../../../data/groups.ts'

describe('groups', () => {
  it('a question is one group whatever its white space, and another question is another', () => {
    expect(whoAndWhenGroup(' Which  year\nwas it? ')).toBe(whoAndWhenGroup('Which year was it?'))
    expect(whoAndWhenGroup('Which year was it?')).not.toBe(whoAndWhenGroup('Which year was it'))
  })

  it.each([
    ['marshmallow-code__marshmallow-1867', 'swe-agent:marshmallow-code__marshmallow-1867'],
    ['replay__default__install-1__marshmallow-code__marshmallow-1867', 'swe-agent:marshmallow-code__marshmallow-1867'],
    ['ctf__crypto__katy', 'swe-agent:ctf__crypto__katy'],
  ])('%s names %s when no issue is known', (stem, group) => {
    expect(sweAgentGroup({ stem, issue: '' })).toBe(group)
  })

  it('runs of one issue share a group under any file name', () => {
    const issue = 'Totals are wrong.'
    expect(sweAgentGroup({ stem: 'a', issue })).toBe(sweAgentGroup({ stem: 'b', issue: `${issue}\n` }))
  })

  it('the key of a text does not reveal it', () => {
    expect(textKey('a private question')).toMatch(/^[0-9a-f]{16}$/)
    expect(taskGroup('openai-chat', 'x')).toBe(`openai-chat:task-${textKey('x')}`)
  })
})

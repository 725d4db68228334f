import { describe, expect, it } from 'vitest'
import { superBenchmarkGroup, sweAgentGroup, taskGroup, textKey, whoAndWhenGroup } from '../../../data/groups.ts'

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

  it.each([
    ['runs/react-super_expert__robust_prompt_classifier.ipynb', 'super-benchmark:robust_prompt_classifier'],
    ['react-super_masked__robust_prompt_classifier_cpu.ipynb', 'super-benchmark:robust_prompt_classifier'],
    ['gpt-4o_swe-agent_masked/robust_prompt_classifier_dependencies.ipynb', 'super-benchmark:robust_prompt_classifier'],
    ['notebook.ipynb', 'super-benchmark:https://example.org/lab/rpc'],
  ])('the SUPER notebook %s is of the task %s', (name, group) => {
    expect(superBenchmarkGroup({ name, query: 'Train it.\n\nGit repository: https://example.org/lab/rpc' })).toBe(group)
  })

  it('the key of a text does not reveal it', () => {
    expect(textKey('a private question')).toMatch(/^[0-9a-f]{16}$/)
    expect(taskGroup('openai-chat', 'x')).toBe(`openai-chat:task-${textKey('x')}`)
  })
})

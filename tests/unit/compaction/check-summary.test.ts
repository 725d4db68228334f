import { describe, expect, it } from 'vitest'
import { neutraliseMarkup, summaryFault } from '../../../src/compaction/check-summary.ts'

describe('summaryFault', () => {
  it.each(['', ' \n ', '---', '***\n.'])('calls %j empty', (text) => {
    expect(summaryFault(text)).toBe('empty')
  })
  it.each([
    '<keepready-summary id="a" interactions="0-1">x</keepready-summary>',
    'I will look.\n<function_calls><invoke name="ls">',
    '<tool_call>{"name":"ls"}</tool_call>',
    '[TOOL_CALLS] [{"name": "ls"}]',
    '{"tool_calls": [{"id": "a"}]}',
    '{"type": "tool_use", "id": "a"}',
    '<|tool_call_begin|>ls',
  ])('calls %j markup', (text) => {
    expect(summaryFault(text)).toBe('markup')
    expect(summaryFault(neutraliseMarkup(text))).toBeNull()
  })
  it.each([
    'Summary unavailable due to context limits.',
    "I can't summarize this conversation.",
    'The summary is not available',
  ])('calls %j a refusal', (text) => {
    expect(summaryFault(text)).toBe('refusal')
  })
  it.each([
    'facts:\n- read(a) -> 3 rows',
    '服务器在 9090 端口',
    `The content is unavailable in ${'many '.repeat(80)}places`,
  ])('accepts %j', (text) => {
    expect(summaryFault(text)).toBeNull()
  })
})

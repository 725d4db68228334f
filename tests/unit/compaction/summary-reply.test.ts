import { describe, expect, it } from 'vitest'
import { readSummaryReply } from '../../../src/compaction/summary-reply.ts'

const reply = (text: string, stopReason: string | null = 'stop', toolCalls = 0) =>
  readSummaryReply({ text, stopReason, toolCalls })

describe('readSummaryReply', () => {
  it('takes a finished text', () => {
    expect(reply('facts:\n- port 8080 is taken')).toEqual({ summary: 'facts:\n- port 8080 is taken' })
    expect(reply('port 8080', null)).toEqual({ summary: 'port 8080' })
    expect(reply('port 8080', 'end_turn')).toEqual({ summary: 'port 8080' })
  })
  it.each([
    ['', 'stop', 0, 'empty'],
    [' \n ', 'stop', 0, 'empty'],
    ['', 'tool_use', 1, 'tool-call'],
    ['some text', 'tool_calls', 0, 'tool-call'],
    ['text beside a call', 'stop', 2, 'tool-call'],
    ['The user asked to mig', 'max_tokens', 0, 'incomplete'],
    ['The user asked to mig', 'length', 0, 'incomplete'],
    ['The user asked', 'MAX_TOKENS', 0, 'incomplete'],
    ['half', 'content_filter', 0, 'refusal'],
    ['Summary unavailable due to context limits.', 'stop', 0, 'refusal'],
    ['<tool_call>{"name":"rm"}</tool_call>', 'stop', 0, 'markup'],
  ])('refuses %j with stop reason %s and %i calls', (text, stop, calls, fault) => {
    expect(reply(text, stop, calls)).toEqual({ fault })
  })
})

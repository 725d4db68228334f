import { describe, expect, it } from 'vitest'
import { RESPONSES_EDITS } from '../../../../src/protocol/openai-responses/edits.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { readSegments } from '../../../../src/protocol/read-segments.ts'
import { splitHistory } from '../../../../src/protocol/split-history.ts'
import { validateHistory } from '../../../../src/protocol/validate-history.ts'

const USER = '{"role":"user","content":"go"}'

describe('closing a call of OpenAI Responses', () => {
  it.each([
    '{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}',
    '{"type":"custom_tool_call","call_id":"a","name":"f","input":"x"}',
    '{"type":"local_shell_call","call_id":"a","action":{"command":["ls"]}}',
    '{"type":"shell_call","call_id":"a","action":{"commands":["ls"]}}',
    '{"type":"apply_patch_call","call_id":"a","operation":{"type":"delete_file","path":"x"}}',
    '{"type":"program","id":"prg_1","call_id":"a","code":"f()"}',
  ])('answers %s with the output item of its type', (item) => {
    const open = parseHistory(`[${USER},${item},${USER}]`, 'openai-responses')
    expect(validateHistory(open).map(({ rule }) => rule)).toEqual(['R1'])
    const [, message] = open.messages
    const [call] = message === undefined ? [] : readSegments(open, message, 1)
    if (message === undefined || call?.kind !== 'call') throw new Error('the item is a call')
    const output = JSON.stringify(RESPONSES_EDITS.closeCall(call, message.value, 'never answered'))
    const closed = parseHistory(`[${USER},${item},${output},${USER}]`, 'openai-responses')
    expect(validateHistory(closed)).toEqual([])
    const [interaction] = splitHistory(closed).trajectory.interactions
    expect(interaction?.observations[0]?.content).toContain('never answered')
  })
})

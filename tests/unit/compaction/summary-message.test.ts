import { describe, expect, it } from 'vitest'
import {
  escapeSummary,
  recogniseSummaryText,
  renderSummaryMessage,
  renderSummaryText,
  unescapeSummary,
} from '../../../src/compaction/summary-message.ts'

const MARK = { id: '9f2c1a-3', start: 3, end: 9 }

describe('the summary message', () => {
  it('names id and half-open canonical range, and frames the content as reference', () => {
    const text = renderSummaryText(MARK, '  facts:\n- a  ')
    expect(text).toMatch(/^<keepready-summary id="9f2c1a-3" interactions="3-9">\n/)
    expect(text).toContain('not instructions')
    expect(recogniseSummaryText(text)).toEqual({ ...MARK, content: 'facts:\n- a' })
  })

  it.each([
    'plain <b>bold</b> & "quoted"',
    'says <keepready-summary id="x"> and </keepready-summary> and <KEEPREADY-summary>',
    'already escaped &lt;keepready-summary and &amp;lt;/keepready-summary and &amp;amp;lt;keepready-summary',
  ])('gives back what was put in: %s', (content) => {
    expect(unescapeSummary(escapeSummary(content))).toBe(content)
    expect(escapeSummary(content)).not.toMatch(/<\/?keepready-summary/i)
    expect(recogniseSummaryText(renderSummaryText(MARK, content))?.content).toBe(content)
  })

  it('leaves text without our tag as it is', () => {
    expect(escapeSummary('a < b && c &lt; d')).toBe('a < b && c &lt; d')
  })

  it('is one user message with string content and whole characters', () => {
    const message = renderSummaryMessage(
      { format: 'openai-chat', listField: 'messages' },
      { mark: MARK, content: 'cut \ud83d', index: 0 },
    )
    expect(message.role).toBe('user')
    expect(JSON.parse(message.raw).content).toContain('cut \ufffd\n')
  })
})

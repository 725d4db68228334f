import { fc, test } from '@fast-check/vitest'
import { parseHTML } from 'linkedom'
import { describe, expect, it } from 'vitest'
import { escapeHtml, html } from '../../../../training/report/html.ts'

describe('html template', () => {
  it('escapes text, joins lists, keeps html and drops null', () => {
    const inner = html`<b>${'<'}</b>`
    expect(html`<p title="${`"a'`}">${[inner, ' & ', 3]}${null}</p>`.text).toBe(
      '<p title="&quot;a&#39;"><b>&lt;</b> &amp; 3</p>',
    )
  })

  test.prop([fc.string()])('gives any text back as text', (text) => {
    const { document } = parseHTML(`<html><body><p title="${escapeHtml(text)}">${escapeHtml(text)}</p></body></html>`)
    const element = document.querySelector('p')
    expect(document.body.children).toHaveLength(1)
    expect(element?.children).toHaveLength(0)
    expect(element?.textContent).toBe(text)
  })
})

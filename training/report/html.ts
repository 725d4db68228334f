/**
 * HTML as a value whose interpolations are escaped unless they are HTML already: log text cannot become markup. Pure.
 */

/** Markup that this project wrote, or text that went through `escapeHtml`. Only `html` and `trustedHtml` make it. */
export interface Html {
  readonly kind: 'html'
  readonly text: string
}

export type HtmlPart = Html | string | number | null | readonly HtmlPart[]

const ENTITY: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Safe as element content and inside quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITY[character] ?? character)
}

/** Tagged template: every `${part}` is escaped, except Html; null is nothing; lists are joined. */
export function html(literals: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const text = literals.reduce(
    (sum, literal, i) => sum + literal + (i < parts.length ? render(parts[i] ?? null) : ''),
    '',
  )
  return { kind: 'html', text }
}

/** For markup made by a serialiser that escapes text itself (the plots). */
export function trustedHtml(text: string): Html {
  return { kind: 'html', text }
}

function render(part: HtmlPart): string {
  if (part === null) return ''
  if (typeof part === 'string') return escapeHtml(part)
  if (typeof part === 'number') return String(part)
  if (isHtml(part)) return part.text
  return part.map(render).join('')
}

function isHtml(part: Html | readonly HtmlPart[]): part is Html {
  return !Array.isArray(part)
}

/**
 * The shell of every page: one file, no script, no frame, no request. Pure.
 */
import { escapeHtml, type Html } from './html.ts'
import { STYLE } from './style.ts'

/** Styles inline, images only as data. */
export const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

export function renderPage(title: string, body: Html): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${CONTENT_SECURITY_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>${body.text}
</body>
</html>
`
}

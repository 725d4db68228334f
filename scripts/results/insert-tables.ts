/** Puts generated text between the markers of a Markdown page. Pure. */

/**
 * Replaces what stands between `<!-- results:NAME -->` and `<!-- /results:NAME -->`.
 * @throws Error when a page lacks the markers of a table
 */
export function insertTables(page: string, tables: Readonly<Record<string, string>>): string {
  return Object.entries(tables).reduce((text, [name, table]) => {
    const [open, close] = [`<!-- results:${name} -->`, `<!-- /results:${name} -->`]
    const [start, end] = [text.indexOf(open), text.indexOf(close)]
    if (start === -1 || end < start) throw new Error(`the page has no markers ${open} ... ${close}`)
    return `${text.slice(0, start + open.length)}\n${table}\n${text.slice(end)}`
  }, page)
}

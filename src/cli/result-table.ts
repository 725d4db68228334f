/**
 * The one look of tables on the terminal: columns apart by spaces, no frames, so that rows can be copied and grepped.
 */
import Table from 'cli-table3'

const NO_FRAME = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'])
    .map((name) => [name, '']),
)

export interface ResultTable {
  push(...rows: readonly (readonly (string | number)[])[]): void
  toString(): string
}

/** @param columns names; one that starts with `>` is right-aligned */
export function createResultTable(columns: readonly string[]): ResultTable {
  const table = new Table({
    head: columns.map((name) => name.replace(/^>/, '')),
    colAligns: columns.map((name) => (name.startsWith('>') ? 'right' : 'left')),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2, compact: true },
    chars: NO_FRAME,
  })
  return {
    push: (...rows) => {
      for (const row of rows) table.push(row.map(String))
    },
    toString: () =>
      table
        .toString()
        .split('\n')
        .map((line) => line.trimEnd())
        .join('\n'),
  }
}

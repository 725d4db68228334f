/**
 * labels.jsonl: one row of labels per run, in the order they were annotated.
 */
import type { LabelRow } from '../annotate/label-record.ts'
import type { FileSeam } from './file-seam.ts'
import { parseLabelRow } from './label.schema.ts'
import { type RowFileKind, readRowFile, writeRowFile } from './row-file.ts'

const LABELS: RowFileKind<LabelRow> = {
  what: 'row of labels',
  command: 'keepready annotate RUNS --annotator lineage --out labels.jsonl',
  parse: parseLabelRow,
  key: { name: 'run', of: (row) => row.trajectory },
}

/** @throws file-not-found, file-unreadable, rows-invalid */
export function readLabels(path: string): Promise<readonly LabelRow[]> {
  return readRowFile(path, LABELS)
}

/** @throws disk-full, file-unreadable */
export function writeLabels(path: string, rows: readonly LabelRow[], files?: FileSeam): Promise<void> {
  return writeRowFile(path, rows, files)
}

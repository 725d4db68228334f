/** A page and the data of its figures, written where the user asked for them. */
import { join } from 'node:path'
import { nodeFiles, writeTextWhole } from '../../data/store/file-seam.ts'
import type { Report } from '../../training/report/render-report.ts'

export const REPORT_FILE = 'index.html'

/** @returns path of the page, written last: it links to the figures' data */
export async function writeReport(out: string, report: Report): Promise<string> {
  await nodeFiles.makeDirectory(join(out, 'figures'))
  for (const { path, text } of report.figures) await writeTextWhole(nodeFiles, join(out, path), text)
  const page = join(out, REPORT_FILE)
  await writeTextWhole(nodeFiles, page, report.page)
  return page
}

/** The studies that a report shows beside an evaluation: folders with a study.json about the same runs and labels. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Dataset } from '../../data/store/dataset.ts'
import { parseStudy } from '../../training/report/study.schema.ts'
import type { StudyRecord } from '../../training/studies/study-record.ts'
import { AppError } from '../errors.ts'

const STUDY_FILE = 'study.json'

/** @throws file-not-found, option-invalid (no study, or one of other runs or labels than the dataset's) */
export async function readStudies(directories: readonly string[], dataset: Dataset): Promise<readonly StudyRecord[]> {
  const studies: StudyRecord[] = []
  for (const directory of directories) {
    const path = join(directory, STUDY_FILE)
    if (!existsSync(path))
      throw new AppError('file-not-found', `${path} is not there: give the folder that the study was written to`)
    const study = parseStudy(path, await readFile(path, 'utf8'))
    requireSameData(path, study, dataset)
    studies.push(study)
  }
  return studies
}

function requireSameData(path: string, study: StudyRecord, dataset: Dataset): void {
  const { runsSha256, labelsSha256 } = dataset.manifest.inputs
  const different = [
    ...(study.dataset.runsSha256 === runsSha256 ? [] : ['runs']),
    ...(study.dataset.labelsSha256 === labelsSha256 ? [] : ['labels']),
  ]
  if (different.length === 0) return
  throw new AppError(
    'option-invalid',
    `${path} is about other data than ${dataset.directory} (different: ${different.join(', ')}): ` +
      'a report shows one set of runs and labels; repeat the study on this dataset or leave it out',
    { details: { path, dataset: dataset.directory, different } },
  )
}

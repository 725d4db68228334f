/**
 * The result of a finished job on disk, until its artefact is committed. Read only by the code that wrote it (the job's
 * key says so), hence V8's own format: typed arrays and every number come back as they were.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { nodeFiles, writeFileWhole } from '../../data/store/file-seam.ts'
import type { TrainedRouter } from '../train-rotation.ts'
import { readTensors, writeTensors } from './tensor-file.ts'

const RECORD_FILE = 'finished.v8'
const PARAMETERS_FILE = 'finished.safetensors'

/** @throws disk-full, file-unreadable */
export async function keepFinishedJob(directory: string, trained: TrainedRouter): Promise<void> {
  await nodeFiles.makeDirectory(directory)
  const { parameters, ...record } = trained
  await writeTensors(join(directory, PARAMETERS_FILE), trained.spec, { parameter: parameters })
  await writeFileWhole(nodeFiles, join(directory, RECORD_FILE), (append) => append(serialize(record)))
}

export function isFinishedJob(directory: string): boolean {
  return existsSync(join(directory, RECORD_FILE))
}

/** @returns null where the job has not finished */
export function readFinishedJob(directory: string): TrainedRouter | null {
  if (!isFinishedJob(directory)) return null
  const path = join(directory, RECORD_FILE)
  const record = deserialize(readFileSync(path)) as Omit<TrainedRouter, 'parameters'>
  return { ...record, parameters: readTensors(join(directory, PARAMETERS_FILE), record.spec, 'parameter') }
}

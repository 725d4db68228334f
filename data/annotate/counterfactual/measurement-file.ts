/**
 * Measurements on the disk, one action a line, appended as they are made: whoever is killed goes on behind the last whole
 * line. Actions are measured in one order, so that the file of a resumed annotation has the bytes of one that was not.
 */
import { AppError } from '../../../src/errors.ts'
import { parseJsonLines } from '../../import/json-lines.ts'
import { openToAppend, translateWriteFailure } from '../../store/file-seam.ts'
import {
  isMeasurementsHeader,
  type MeasurementsIdentity,
  measurementsHeader,
  parseMeasurement,
} from './measurement.schema.ts'
import type { ActionMeasurement } from './measurement.ts'

export interface MeasurementFile {
  readonly path: string
  /** What was there when it was opened, in order. */
  readonly earlier: readonly ActionMeasurement[]
  /** The measurement survives a crash of the program when it resolves. @throws disk-full, file-unreadable */
  append(measurement: ActionMeasurement): Promise<void>
  close(): Promise<void>
}

/**
 * Opens or makes the file. What follows its last whole and valid line is cut off.
 * @throws rows-invalid where it holds something else, or measurements of other runs, another model or other options (it
 *   is left as it is); file-unreadable; disk-full
 */
export async function openMeasurements(path: string, identity: MeasurementsIdentity): Promise<MeasurementFile> {
  const handle = await openToAppend(path)
  try {
    const bytes = await handle.readFile()
    const header = `${measurementsHeader(identity)}\n`
    const { earlier, end } = readWhole(path, bytes, header)
    await handle.truncate(end)
    if (end === 0) await handle.appendFile(header)
    return {
      path,
      earlier,
      async append(measurement) {
        try {
          await handle.appendFile(`${JSON.stringify(measurement)}\n`)
        } catch (thrown) {
          throw translateWriteFailure(thrown, path)
        }
      },
      async close() {
        await handle.sync()
        await handle.close()
      },
    }
  } catch (thrown) {
    await handle.close()
    throw translateWriteFailure(thrown, path)
  }
}

/** Valid lines from the start, and where they end. */
function readWhole(
  path: string,
  bytes: Buffer,
  header: string,
): { readonly earlier: readonly ActionMeasurement[]; readonly end: number } {
  let end = bytes.indexOf(10) + 1
  if (end === 0) {
    if (header.startsWith(bytes.toString('utf8'))) return { earlier: [], end: 0 }
    throw otherFile(path)
  }
  const first = bytes.subarray(0, end).toString('utf8')
  if (first !== header) throw isMeasurementsHeader(parsed(first)) ? otherWork(path) : otherFile(path)
  const earlier: ActionMeasurement[] = []
  for (;;) {
    const next = bytes.indexOf(10, end) + 1
    if (next === 0) break
    const measurement = parseMeasurement(parsed(bytes.subarray(end, next).toString('utf8')))
    if (measurement === null) break
    earlier.push(measurement)
    end = next
  }
  return { earlier, end }
}

function parsed(line: string): unknown {
  const [first] = parseJsonLines(Buffer.from(line))
  return first?.kind === 'record' ? first.value : null
}

function otherFile(path: string): AppError {
  return new AppError(
    'rows-invalid',
    `${path} is no measurements file of this version of keepready annotate and was left as it is: choose another --journal`,
    { details: { path } },
  )
}

function otherWork(path: string): AppError {
  return new AppError(
    'rows-invalid',
    `${path} holds measurements of other runs, of another model or with other options and was left as it is: remove it, or choose another --journal`,
    { details: { path } },
  )
}

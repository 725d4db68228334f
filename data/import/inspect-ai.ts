/**
 * inspect_ai evaluation logs: one JSON, or an .eval archive of one JSON per sample. Every sample of every epoch is a run.
 */
import { AppError } from '../../src/errors.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { readInspectSample } from './inspect-ai-sample.ts'
import { idOf, isObject, type JsonObject, objectOf, stringOf } from './json-value.ts'
import { pruneDeep } from './prune-deep.ts'
import { openZip, type ZipArchive } from './zip-archive.ts'

export const inspectAi: Importer = {
  name: 'inspect-ai',
  summary: 'inspect_ai logs (.json, .eval)',
  detect({ document, isZip }) {
    if (isZip) return { because: 'a zip archive, as .eval logs are' }
    return isLog(document) ? { because: 'an evaluation log with eval, status and samples' } : null
  },
  async *read(file, context) {
    if (file.sample.isZip) {
      using archive = await openZip(file.path)
      yield* readArchive(archive, { file, context })
      return
    }
    const { document } = file.sample
    const samples = isObject(document) ? document.samples : undefined
    if (!isObject(document) || !Array.isArray(samples) || samples.length === 0)
      throw new AppError('log-malformed', `${file.name} holds no samples of an inspect_ai evaluation: nothing was run`)
    for (const [index, sample] of samples.entries()) {
      if (isObject(sample))
        yield readInspectSample(sample, { ...evaluationOf(objectOf(document.eval), file), context, index })
      else context.damage({ index, reason: 'sample is no object' })
    }
  },
}

function isLog(value: unknown): boolean {
  return (
    isObject(value) &&
    isObject(value.eval) &&
    'task' in value.eval &&
    'status' in value &&
    ('samples' in value || 'plan' in value)
  )
}

function evaluationOf(header: JsonObject, file: LogFile) {
  return {
    file: file.name,
    evaluation: idOf(header.eval_id) ?? idOf(header.run_id) ?? file.sha256.slice(0, 16),
    task: stringOf(header.task),
  }
}

async function* readArchive(
  archive: ZipArchive,
  { file, context }: { readonly file: LogFile; readonly context: ReadContext },
): AsyncGenerator<Trajectory> {
  const samples = archive.entries.filter(({ name }) => /^samples\/[^/]+\.json$/.test(name))
  const has = (name: string): boolean => archive.entries.some((entry) => entry.name === name)
  const head = ['header.json', '_journal/start.json'].find(has)
  if (head === undefined)
    throw new AppError('log-malformed', `${file.name} is a zip archive, but no inspect_ai log: it has no header.json`)
  const header = objectOf(objectOf(parsed(await archive.readText(head))).eval)
  if (samples.length === 0)
    throw new AppError(
      'log-malformed',
      `${file.name} holds no samples: the evaluation was cut before its first one ended`,
    )
  for (const [index, { name }] of samples.entries()) {
    const { value, count } = pruneDeep(parsed(await archive.readText(name)))
    if (count > 0) context.damage({ index, reason: `${name}: ${count} values are nested too deep and left out` })
    if (isObject(value)) yield readInspectSample(value, { ...evaluationOf(header, file), context, index })
    else context.damage({ index, reason: `${name} is no JSON object: it is torn or damaged` })
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    // A torn sample is reported by the caller, and the others are read.
    if (cause instanceof SyntaxError) return undefined
    throw cause
  }
}

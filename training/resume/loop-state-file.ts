/**
 * The state of a training loop on disk: state.json names the tensor files that belong to it and is renamed into place
 * last. Killed at any point, what is there is the state of an epoch, whole.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeFiles, writeTextWhole } from '../../data/store/file-seam.ts'
import type { RouterSpec } from '../../models/router/spec.ts'
import type { LoopState } from '../loop.ts'
import { parseStateFile, type StateFile } from './loop-state.schema.ts'
import { readTensors, writeTensors } from './tensor-file.ts'

const STATE_FILE = 'state.json'

/**
 * @param directory of one job
 * @throws disk-full, file-unreadable; the state that was there stays
 */
export async function keepLoopState(directory: string, spec: RouterSpec, state: LoopState): Promise<void> {
  await nodeFiles.makeDirectory(directory)
  const before = readStateFile(directory)
  const { epochs, rng, backend, best } = state
  // A killed parent's child may still be at its last step: no two processes write the same file.
  const nameOf = (what: string, epoch: number): string => `${what}-${epoch}-${process.pid}.safetensors`
  const tensors = nameOf('epoch', epochs.length)
  await writeTensors(join(directory, tensors), spec, {
    parameter: backend.parameters,
    firstMoment: backend.firstMoment,
    secondMoment: backend.secondMoment,
  })
  let bestParameters: string | null = null
  if (best !== null && best.epoch !== epochs.length) {
    const known = before?.best?.epoch === best.epoch ? before.best.parameters : null
    bestParameters = known ?? nameOf('best', best.epoch)
    if (known === null) await writeTensors(join(directory, bestParameters), spec, { parameter: best.parameters })
  }
  const after: StateFile = {
    epochs: [...epochs],
    rng: [...rng],
    step: backend.step,
    tensors,
    best: best === null ? null : { epoch: best.epoch, score: best.score, parameters: bestParameters },
  }
  await writeTextWhole(nodeFiles, join(directory, STATE_FILE), `${JSON.stringify(after, null, 1)}\n`)
  for (const name of filesOf(before)) if (!filesOf(after).includes(name)) await nodeFiles.remove(join(directory, name))
}

/** @returns null where there is none, or none that can be read: the job starts over then */
export function readLoopState(directory: string, spec: RouterSpec): LoopState | null {
  const file = readStateFile(directory)
  if (file === null || !filesOf(file).every((name) => existsSync(join(directory, name)))) return null
  const { epochs, rng, step, best } = file
  const read = (name: string, prefix: string) => readTensors(join(directory, name), spec, prefix)
  const parameters = read(file.tensors, 'parameter')
  return {
    epochs,
    rng,
    backend: {
      parameters,
      firstMoment: read(file.tensors, 'firstMoment'),
      secondMoment: read(file.tensors, 'secondMoment'),
      step,
    },
    best: best && {
      epoch: best.epoch,
      score: best.score,
      parameters: best.parameters === null ? parameters : read(best.parameters, 'parameter'),
    },
  }
}

/** The last kept epoch, for messages; null if none is. */
export function lastKeptEpoch(directory: string): number | null {
  return readStateFile(directory)?.epochs.length ?? null
}

/** Removes what `keepLoopState` wrote. */
export async function dropLoopState(directory: string): Promise<void> {
  const file = readStateFile(directory)
  await nodeFiles.remove(join(directory, STATE_FILE))
  for (const name of filesOf(file)) await nodeFiles.remove(join(directory, name))
}

function readStateFile(directory: string): StateFile | null {
  const path = join(directory, STATE_FILE)
  return existsSync(path) ? parseStateFile(readFileSync(path, 'utf8')) : null
}

function filesOf(file: StateFile | null): readonly string[] {
  if (file === null) return []
  return [file.tensors, file.best?.parameters ?? null].filter((name) => name !== null)
}

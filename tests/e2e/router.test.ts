/** The life of a router on the command line: trained, looked at, checked, exported, gone on with. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InferenceSession } from 'onnxruntime-node'
import { afterAll, expect, it } from 'vitest'
import { makeFakeDataset } from '../fixtures/fake-dataset.ts'
import { type Finished, runCommand } from '../fixtures/run-command.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-router-life-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
/** Nine starts of the command: 15 s on a quiet machine. */
const TIMEOUT_MS = 240_000
const path = (name: string): string => join(folder, name)

async function succeed(...args: readonly string[]): Promise<Finished> {
  const finished = await runCommand(args)
  expect(finished, args.join(' ')).toMatchObject({ code: 0 })
  return finished
}

it('a router is trained, inspected, verified, exported and fine-tuned; a damaged one is refused', {
  timeout: TIMEOUT_MS,
}, async () => {
  await makeFakeDataset({ out: path('dataset'), groups: 12 })
  await makeFakeDataset({ out: path('larger'), groups: 18 })
  const quick = ['--epochs', '2', '--min-future', '1', '--workers', '1', '--backend', 'ort-cpu']
  await succeed('train', path('dataset'), '--out', path('router'), '--inputs', 'hidden', '--width', '4', ...quick)
  expect((await succeed('inspect', path('router'))).stdout).toContain('4 hidden units')
  expect((await succeed('router', 'verify', path('router'), '--dataset', path('dataset'))).stdout).toMatch(
    /5 rotations/,
  )
  await succeed('router', 'export', path('router'), '--onnx', path('router.onnx'), '--operating-point', 'fixed')
  const session = await InferenceSession.create(path('router.onnx'))
  expect(session.inputNames).toEqual(['h', 'q', 'm'])
  expect(session.outputNames).toEqual(['logit', 'p', 'ready'])
  await session.release()

  const tuned = await succeed('train', path('larger'), '--out', path('tuned'), '--from', path('router'), ...quick)
  expect(tuned.stdout).toMatch(/Fine-tuned: 6 groups are new to the router it started from/)
  expect(tuned.stdout).toMatch(/the router it started from +test/)
  await succeed('router', 'verify', path('tuned'), '--dataset', path('larger'))

  const again = await runCommand(['train', path('dataset'), '--out', path('never'), '--from', path('router'), ...quick])
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('0 of the 12 groups') })
  const manifest = path(join('router', 'router.json'))
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"schemaVersion": 2', '"schemaVersion": 9'))
  expect(await runCommand(['router', 'verify', path('router')])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('router schema version 9'),
  })
})

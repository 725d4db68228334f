/**
 * The same model in this thread, in a worker thread and in a supervised child process. Thread and process are started
 * from dist (`npm test` builds it first).
 */
import { spawn } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createExtractor } from '../../../models/frozen-lm/create-extractor.ts'
import type { ExtractionRequest, ExtractorOptions } from '../../../models/frozen-lm/extraction.ts'
import { startProcessExtractor } from '../../../models/frozen-lm/process-extractor.ts'
import { startSupervisedExtractor } from '../../../models/frozen-lm/supervised-host.ts'
import { startWorkerExtractor } from '../../../models/frozen-lm/worker-extractor.ts'
import { compiledEntry, packageFile } from '../../../models/package-root.ts'
import { AppError } from '../../../src/errors.ts'
import { DEFAULT_RECIPE, scaleBudgets } from '../../../src/view/recipe.ts'
import { repairTrajectory, shellInteraction, trajectoryOf } from '../../fakes/trajectories.ts'

const OPTIONS: ExtractorOptions = {
  directory: packageFile('models', 'tiny'),
  layer: 'default',
  recipe: { ...DEFAULT_RECIPE, window: 'fixed', budgets: scaleBudgets(640) },
  storageDtype: 'f16',
}
const REQUEST: ExtractionRequest = { trajectory: repairTrajectory(), checkpoints: [3, 6] }

/** Seconds of work: big views, the state and recent sections full at every checkpoint. */
function longRequest(checkpoints: number): ExtractionRequest {
  const output = (i: number): string =>
    Array.from({ length: 400 }, (_, k) => `line ${i * 400 + k} of the log`).join('\n')
  const interactions = Array.from({ length: checkpoints + 2 }, (_, i) => shellInteraction(i, `step ${i}`, output(i)))
  return {
    trajectory: trajectoryOf({ task: 'Read the log.', interactions }),
    checkpoints: Array.from({ length: checkpoints }, (_, k) => k + 2),
  }
}

const LONG_OPTIONS: ExtractorOptions = {
  ...OPTIONS,
  recipe: { ...DEFAULT_RECIPE, name: 'shared-first', window: 'fixed' },
}

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

const HOSTS = {
  'a worker thread': startWorkerExtractor,
  'a process': startProcessExtractor,
  'a supervised process': startSupervisedExtractor,
} as const

describe.each(Object.entries(HOSTS))('an extractor in %s', (_, start) => {
  it('gives the same vectors, bit for bit, as one in this thread', async () => {
    const [there, here] = [await start(OPTIONS), await createExtractor(OPTIONS)]
    try {
      expect(there.representation).toEqual(here.representation)
      const expected = await here.extract(REQUEST)
      const { vectors, computedTokens, interactionTokens } = await there.extract(REQUEST)
      expect({ vectors, computedTokens, interactionTokens }).toEqual({
        vectors: expected.vectors,
        computedTokens: expected.computedTokens,
        interactionTokens: expected.interactionTokens,
      })
    } finally {
      await there.close()
      await here.close()
    }
  })

  it('fails to start without a model, by name', async () => {
    const started = start({ ...OPTIONS, directory: packageFile('tests', 'no-such-model') })
    await expect(started).rejects.toBeInstanceOf(AppError)
    await expect(started).rejects.toMatchObject({ family: 'artifact' })
  })

  it('leaves the event loop free while it works, and stops between two runs when aborted', async () => {
    const extractor = await start(LONG_OPTIONS)
    let ticks = 0
    const timer = setInterval(() => {
      ticks += 1
    }, 5)
    try {
      const controller = new AbortController()
      const startMs = performance.now()
      setTimeout(() => controller.abort(new AppError('deadline-exceeded', 'enough')), 2500)
      const run = extractor.extract(longRequest(200), { signal: controller.signal })
      await expect(run).rejects.toMatchObject({ code: 'deadline-exceeded' })
      expect(performance.now() - startMs).toBeGreaterThan(2000)
      expect(ticks).toBeGreaterThanOrEqual(50)
      // The abandoned request is really over: the next one does not wait for its remaining minutes.
      const { vectors } = await extractor.extract({ ...longRequest(1), checkpoints: [2] })
      expect(vectors.length).toBe(2)
      expect(performance.now() - startMs).toBeLessThan(20_000)
    } finally {
      clearInterval(timer)
      await extractor.close()
    }
  })

  it('refuses requests after it was closed and fails those it was closed on', async () => {
    const extractor = await start(LONG_OPTIONS)
    const pending = extractor.extract(longRequest(200))
    const outcome = expect(pending).rejects.toMatchObject({ code: 'interrupted' })
    await extractor.close()
    await outcome
    await expect(extractor.extract(REQUEST)).rejects.toMatchObject({ code: 'interrupted' })
  })
})

describe('the process', () => {
  it('fails the request it was killed in and every later one, by name, and is gone once closed', async () => {
    const extractor = await startProcessExtractor(LONG_OPTIONS)
    const pid = extractor.pid ?? 0
    const pending = extractor.extract(longRequest(200))
    setTimeout(() => process.kill(pid, 'SIGKILL'), 300)
    await expect(pending).rejects.toMatchObject({ code: 'host-crashed', message: /SIGKILL/ })
    await expect(extractor.extract(REQUEST)).rejects.toMatchObject({ code: 'host-crashed' })
    await extractor.close()
    expect(alive(pid)).toBe(false)
  })
})

describe('the supervised process', () => {
  it('fails the request it crashed on with host-crashed, starts again and serves the next', async () => {
    const extractor = await startSupervisedExtractor(LONG_OPTIONS)
    try {
      expect([extractor.ready, extractor.restarts]).toEqual([true, 0])
      const crashed = extractor.pid ?? 0
      const pending = extractor.extract(longRequest(200))
      setTimeout(() => process.kill(crashed, 'SIGKILL'), 300)
      await expect(pending).rejects.toMatchObject({ code: 'host-crashed', message: /SIGKILL/ })
      expect(extractor.ready).toBe(false)
      const { vectors } = await extractor.extract(REQUEST)
      expect(vectors.length).toBe(9)
      expect([extractor.ready, extractor.restarts]).toEqual([true, 1])
      expect(extractor.pid).not.toBe(crashed)
    } finally {
      await extractor.close()
    }
  })

  it('stops waiting for a restart when the request is aborted', async () => {
    const extractor = await startSupervisedExtractor(OPTIONS)
    try {
      process.kill(extractor.pid ?? 0, 'SIGKILL')
      await expect.poll(() => extractor.ready, { interval: 1 }).toBe(false)
      const waiting = extractor.extract(REQUEST, { signal: AbortSignal.timeout(10) })
      await expect(waiting).rejects.toMatchObject({ code: 'interrupted' })
    } finally {
      await extractor.close()
    }
  })

  it('is gone once it is closed', async () => {
    const extractor = await startSupervisedExtractor(OPTIONS)
    const pid = extractor.pid ?? 0
    expect(alive(pid)).toBe(true)
    await extractor.close()
    expect(alive(pid)).toBe(false)
    expect([extractor.ready, extractor.restarts]).toEqual([false, 0])
  })

  it('is gone soon after its parent was killed', async () => {
    const host = pathToFileURL(compiledEntry('models/frozen-lm/supervised-host.js')).href
    const script = `import { startSupervisedExtractor } from ${JSON.stringify(host)}
      const extractor = await startSupervisedExtractor(${JSON.stringify(OPTIONS)})
      console.log(extractor.pid)`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const line = await new Promise<string>((resolve) => {
      parent.stdout.once('data', (data: Buffer) => resolve(data.toString()))
    })
    const pid = Number(line)
    expect(alive(pid)).toBe(true)
    parent.kill('SIGKILL')
    await expect.poll(() => alive(pid), { timeout: 10_000 }).toBe(false)
  })
})

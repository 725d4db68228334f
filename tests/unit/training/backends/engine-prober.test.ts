import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  createEngineProber,
  failedTrial,
  type ProberSeams,
  tryInChildProcess,
} from '../../../../training/backends/engine-prober.ts'

/** A machine where everything is there, but for what a test takes away. */
function machine(without: Partial<ProberSeams> = {}): { readonly seams: ProberSeams; readonly tried: string[] } {
  const tried: string[] = []
  const seams: ProberSeams = {
    isInstalled: () => true,
    missingForCuda: async () => null,
    tryEngine: async (engine) => {
      tried.push(engine)
      return { ok: true }
    },
    ...without,
  }
  return { seams, tried }
}

describe('createEngineProber', () => {
  it('tries engines on a GPU in another process, and the others not at all', async () => {
    const { seams, tried } = machine()
    const prober = createEngineProber(seams)
    for (const engine of ['ort-cpu', 'ort-cuda', 'tfjs-wasm', 'tfjs-node-gpu'] as const)
      expect(await prober.probe(engine)).toEqual({ ok: true })
    expect(tried).toEqual(['ort-cuda', 'tfjs-node-gpu'])
  })

  it('names the packages to install, with their version', async () => {
    const { seams, tried } = machine({ isInstalled: (name) => name === '@tensorflow/tfjs' })
    const prober = createEngineProber(seams)
    expect(await prober.probe('tfjs-wasm')).toEqual({
      ok: false,
      lacks: '@tensorflow/tfjs-backend-wasm',
      remedy: 'npm install @tensorflow/tfjs@4.22.0 @tensorflow/tfjs-backend-wasm@4.22.0',
    })
    expect(await prober.probe('tfjs-node-gpu')).toMatchObject({ ok: false, lacks: '@tensorflow/tfjs-node-gpu' })
    expect(tried).toEqual([])
  })

  it('tries no session where the machine lacks what CUDA needs', async () => {
    const { seams, tried } = machine({ missingForCuda: async () => ({ what: 'the driver', remedy: 'install it' }) })
    const verdict = await createEngineProber(seams).probe('ort-cuda')
    expect(verdict).toEqual({ ok: false, lacks: 'the driver', remedy: 'install it' })
    expect(tried).toEqual([])
  })

  it('passes on what the trial said', async () => {
    const refused = failedTrial('w2 differs\nby 1e-3')
    const { seams } = machine({ tryEngine: async () => refused })
    const verdict = await createEngineProber(seams).probe('tfjs-node-gpu')
    expect(verdict).toMatchObject({ ok: false, lacks: 'a successful trial (w2 differs by 1e-3)' })
  })
})

describe('tryInChildProcess', () => {
  it('opens an engine in a process of its own', async () => {
    expect(await tryInChildProcess('tfjs-wasm')).toEqual({ ok: true })
  })

  it.each([
    ["process.stderr.write('loading\\nno CUDA for you\\n'); process.exit(3)", /an error: no CUDA for you/],
    ['process.kill(process.pid, "SIGABRT")', /signal SIGABRT/],
  ])('turns the end of that process into a verdict (%s)', async (program, lacks) => {
    const folder = mkdtempSync(join(tmpdir(), 'keepready-trial-'))
    try {
      writeFileSync(join(folder, 'trial.mjs'), program)
      const verdict = await tryInChildProcess('ort-cuda', join(folder, 'trial.mjs'))
      expect(verdict).toMatchObject({ ok: false, lacks: expect.stringMatching(lacks) })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

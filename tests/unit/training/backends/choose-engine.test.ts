import { describe, expect, it } from 'vitest'
import { chooseEngine } from '../../../../training/backends/choose-engine.ts'
import { ENGINE_CHOICES, ENGINES, type EngineName } from '../../../../training/backends/engine-names.ts'
import type { EngineProber } from '../../../../training/backends/engine-prober.ts'

/** A machine that has these engines; what it was asked about is kept. */
function machineWith(present: readonly EngineName[]): EngineProber & { readonly asked: EngineName[] } {
  const asked: EngineName[] = []
  return {
    asked,
    async probe(engine) {
      asked.push(engine)
      return present.includes(engine) ? { ok: true } : { ok: false, lacks: `all of ${engine}`, remedy: `get ${engine}` }
    },
  }
}

describe('chooseEngine', () => {
  it.each([
    ['auto', ENGINES, 'tfjs-node-gpu'],
    ['auto', ['ort-cpu', 'ort-cuda', 'tfjs-wasm'], 'ort-cuda'],
    ['auto', ['ort-cpu', 'tfjs-wasm'], 'ort-cpu'],
    ['ort', ENGINES, 'ort-cuda'],
    ['ort', ['ort-cpu', 'tfjs-node-gpu'], 'ort-cpu'],
    ['tfjs', ENGINES, 'tfjs-node-gpu'],
    ['tfjs', ['ort-cpu', 'tfjs-wasm'], 'tfjs-wasm'],
  ] as const)('takes for %s on a machine with %j the engine %s', async (choice, present, expected) => {
    expect((await chooseEngine(choice, machineWith(present))).name).toBe(expected)
  })

  it('says which faster engines are not there, and what they lack', async () => {
    const { because } = await chooseEngine('auto', machineWith(['ort-cpu']))
    expect(because).toBe('auto: tfjs-node-gpu lacks all of tfjs-node-gpu, ort-cuda lacks all of ort-cuda')
  })

  it.each(ENGINES)('asks for nothing else when %s was named', async (name) => {
    const machine = machineWith(ENGINES)
    expect(await chooseEngine(name, machine)).toEqual({ name, because: 'asked for' })
    expect(machine.asked).toEqual([name])
  })

  it.each(['ort-cuda', 'tfjs-wasm', 'tfjs-node-gpu'] as const)(
    'takes nothing in the place of %s, and says what to do',
    async (name) => {
      await expect(chooseEngine(name, machineWith(['ort-cpu']))).rejects.toMatchObject({
        code: 'engine-unavailable',
        message: expect.stringContaining(`${name} lacks all of ${name}: get ${name}`),
      })
    },
  )

  it('names every engine of a family that is not there at all', async () => {
    await expect(chooseEngine('tfjs', machineWith(['ort-cpu', 'ort-cuda']))).rejects.toMatchObject({
      code: 'engine-unavailable',
      message: expect.stringMatching(/get tfjs-node-gpu.*get tfjs-wasm.*--backend ort-cpu/),
    })
  })

  it('finds ort-cpu on this machine by its name, by ort or auto where there is no GPU, and gives the same answer twice', async () => {
    expect((await chooseEngine('ort-cpu')).name).toBe('ort-cpu')
    expect(await chooseEngine('auto')).toEqual(await chooseEngine('auto'))
  })

  it('has an order for each choice that is no exact name', () => {
    expect(ENGINE_CHOICES.filter((choice) => !ENGINES.some((name) => name === choice))).toEqual(['auto', 'ort', 'tfjs'])
  })
})

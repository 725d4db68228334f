/** Entry of the child process that tries an engine; started by engine-prober.ts, prints one JSON line. */
import { initialiseRouter } from '../../models/router/initialise.ts'
import type { RouterSpec } from '../../models/router/spec.ts'
import { toAppError } from '../../src/errors.ts'
import { DEFAULT_ADAMW } from './backend.ts'
import { ENGINES, REFERENCE_ENGINE } from './engine-names.ts'
import { type EngineVerdict, failedTrial } from './engine-prober.ts'
import { openBackend } from './open-backend.ts'

const SPEC: RouterSpec = { inputs: 'hidden+evidence', hiddenSize: 128, evidenceSize: 10, width: 256, dropout: 0.3 }

async function verdict(): Promise<EngineVerdict> {
  const engine = ENGINES.find((name) => name === process.argv[2]) ?? REFERENCE_ENGINE
  try {
    const backend = await openBackend(engine, {
      spec: SPEC,
      parameters: initialiseRouter(SPEC, 1),
      adamw: DEFAULT_ADAMW,
    })
    await backend.close()
    return { ok: true }
  } catch (thrown) {
    return failedTrial(toAppError(thrown).message)
  }
}

process.stdout.write(`${JSON.stringify(await verdict())}\n`, () => process.exit(0))

import { describe, expect, it, vi } from 'vitest'
import type { SelfCheck } from '../../../../models/frozen-lm/devices/self-check.ts'
import type {
  Extraction,
  ExtractionRequest,
  Extractor,
  ExtractorOptions,
} from '../../../../models/frozen-lm/extraction.ts'
import { crashedError, createExtractionClient } from '../../../../models/frozen-lm/extraction-client.ts'
import { createExtractionHost } from '../../../../models/frozen-lm/extraction-host.ts'
import type { FromHost, ToHost } from '../../../../models/frozen-lm/host-protocol.ts'
import { createRepresentation } from '../../../../models/frozen-lm/representation.ts'
import { AppError } from '../../../../src/errors.ts'
import { DEFAULT_RECIPE } from '../../../../src/view/recipe.ts'
import { repairTrajectory } from '../../../fakes/trajectories.ts'

const OPTIONS: ExtractorOptions = { directory: '/model', layer: 4, recipe: DEFAULT_RECIPE, storageDtype: 'f32' }
const REQUEST: ExtractionRequest = { trajectory: repairTrajectory(), checkpoints: [3] }
const EXTRACTION: Extraction = {
  vectors: [
    { role: 'q', interaction: null, checkpoint: 3, values: Float32Array.of(0.5), viewTokens: 9, truncatedTokens: 0 },
  ],
  computedTokens: 9,
  prefixCache: { hits: 1, misses: 2, savedTokens: 3, evictions: 4, sizeBytes: 5 },
  interactionTokens: [1],
  tokenizeUs: 1,
  inferenceUs: 2,
}
const REPRESENTATION = createRepresentation({
  model: { name: 'fake', architecture: 'Fake', hiddenSize: 1, filesSha256: '0'.repeat(64) },
  layer: 4,
  storageDtype: 'f32',
  recipe: DEFAULT_RECIPE,
})

const SELF_CHECK: SelfCheck = {
  device: 'cuda',
  precision: 'f16',
  worst: 1e-3,
  worstRow: 7,
  typical: 5e-4,
  lowestCosine: 0.99999,
  limit: 2e-2,
}

/** Client and host joined by structured clones, as a thread or process boundary would. */
function connect(extract: Extractor['extract'], open?: (options: ExtractorOptions) => Promise<Extractor>) {
  const sent: ToHost[] = []
  const answers: FromHost[] = []
  let closed = 0
  const extractor: Extractor = {
    representation: REPRESENTATION,
    selfCheck: SELF_CHECK,
    extract,
    close: async () => {
      closed += 1
    },
  }
  const receive = createExtractionHost(
    (message) => {
      answers.push(message)
      client.receive(structuredClone(message))
    },
    open ?? (async () => extractor),
  )
  const client = createExtractionClient((message) => {
    sent.push(message)
    receive(structuredClone(message))
  })
  return { client, receive, sent, answers, closedTimes: () => closed }
}

/** An extraction that waits until the test lets it go or its signal aborts. */
function slowExtractor() {
  const started: ExtractionRequest[] = []
  const release: (() => void)[] = []
  const extract: Extractor['extract'] = (request, { signal } = {}) =>
    new Promise((resolve, reject) => {
      started.push(request)
      release.push(() => resolve(EXTRACTION))
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  return { extract, started, release }
}

describe('extraction across a boundary', () => {
  it('passes progress on, but not more often than a reader can follow', async () => {
    const now = vi.spyOn(performance, 'now')
    const times = [0, 100, 300, 300, 400, 600, 600]
    now.mockImplementation(() => times.shift() ?? 600)
    const { client, answers } = connect(async (_request, { onProgress } = {}) => {
      for (let views = 1; views <= 4; views++) onProgress?.({ views, computedTokens: views * 10 })
      return EXTRACTION
    })
    await client.open(OPTIONS)
    const seen: number[] = []
    await client.extract(REQUEST, { onProgress: ({ views }) => seen.push(views) })
    now.mockRestore()
    expect(seen).toEqual([2, 4])
    expect(answers.map(({ kind }) => kind)).toEqual(['opened', 'progress', 'progress', 'extracted'])
  })

  it('opens the model and returns what extraction returns', async () => {
    const { client } = connect(async () => EXTRACTION)
    expect(await client.open(OPTIONS)).toEqual({ representation: REPRESENTATION, selfCheck: SELF_CHECK })
    expect(await client.extract(REQUEST)).toEqual(EXTRACTION)
  })

  it('carries an error across with its code, message and details', async () => {
    const thrown = new AppError('output-not-finite', 'value 1e9', { details: { index: 3 } })
    const { client } = connect(() => Promise.reject(thrown))
    await client.open(OPTIONS)
    const error = await client.extract(REQUEST).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'output-not-finite', message: 'value 1e9', details: { index: 3 } })
  })

  it('reports a failure to open', async () => {
    const { client } = connect(
      async () => EXTRACTION,
      () => Promise.reject(new AppError('model-not-found', 'no model')),
    )
    await expect(client.open(OPTIONS)).rejects.toMatchObject({ code: 'model-not-found' })
    await expect(client.extract(REQUEST)).rejects.toMatchObject({ code: 'invariant' })
  })

  it('runs one request after another', async () => {
    const slow = slowExtractor()
    const { client } = connect(slow.extract)
    await client.open(OPTIONS)
    const both = [client.extract(REQUEST), client.extract(REQUEST)]
    await expect.poll(() => slow.started.length).toBe(1)
    slow.release[0]?.()
    await both[0]
    await expect.poll(() => slow.started.length).toBe(2)
    slow.release[1]?.()
    expect(await both[1]).toEqual(EXTRACTION)
  })

  it('rejects an aborted request at once, with its reason, and goes on with the next', async () => {
    const slow = slowExtractor()
    const { client, answers } = connect(slow.extract)
    await client.open(OPTIONS)
    const controller = new AbortController()
    const first = client.extract(REQUEST, { signal: controller.signal })
    const second = client.extract(REQUEST)
    await expect.poll(() => slow.started.length).toBe(1)
    controller.abort(new AppError('deadline-exceeded', 'late'))
    await expect(first).rejects.toMatchObject({ code: 'deadline-exceeded' })
    await expect.poll(() => slow.started.length).toBe(2)
    slow.release[1]?.()
    expect(await second).toEqual(EXTRACTION)
    expect(answers.filter((answer) => answer.kind === 'failed').map((answer) => answer.error.code)).toEqual([
      'interrupted',
    ])
  })

  it('never sends a request that was aborted before', async () => {
    const { client, sent } = connect(async () => EXTRACTION)
    await client.open(OPTIONS)
    await expect(client.extract(REQUEST, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'interrupted',
    })
    expect(sent.map((message) => message.kind)).toEqual(['open'])
  })

  it('fails what waits and what comes after when the host is gone', async () => {
    const slow = slowExtractor()
    const { client } = connect(slow.extract)
    await client.open(OPTIONS)
    const pending = client.extract(REQUEST)
    client.fail(crashedError('signal SIGKILL'))
    await expect(pending).rejects.toMatchObject({ code: 'host-crashed', details: { how: 'signal SIGKILL' } })
    await expect(client.extract(REQUEST)).rejects.toMatchObject({ code: 'host-crashed' })
  })

  it('stops what runs and closes the model once when told to close', async () => {
    const slow = slowExtractor()
    const { client, receive, answers, closedTimes } = connect(slow.extract)
    await client.open(OPTIONS)
    const pending = client.extract(REQUEST)
    await expect.poll(() => slow.started.length).toBe(1)
    receive({ kind: 'close' })
    await expect(pending).rejects.toMatchObject({ code: 'interrupted' })
    await expect.poll(() => answers.at(-1)?.kind).toBe('closed')
    expect(closedTimes()).toBe(1)
  })
})

/**
 * The hub over HTTP. Listings come from @huggingface/hub; the bytes are fetched here, because its `snapshotDownload` starts
 * every cut-off file again from zero, compares no checksum, reports no progress and logs to the console (2.17.5), and it
 * accepts no token of other hubs. Tokens are sent to the endpoint's own origin only, never along a redirect.
 */
import { HubApiError, listFiles, modelInfo } from '@huggingface/hub'
import { AppError } from '../../src/errors.ts'
import { hubRefusal, hubUnreachable } from './hub-errors.ts'
import { parseCommit, parseHubEntry } from './listing.schema.ts'
import type { HubFile, HubListing, HubStream, ModelHub } from './port.ts'

export const DEFAULT_ENDPOINT = 'https://huggingface.co'

export interface HttpHubOptions {
  readonly endpoint: string
  readonly token: string | null
  readonly userAgent: string
}

/** No repository has more; a listing that does not end is one that lies. */
const MAX_FILES = 100_000
/** Of one page. */
const LIST_TIMEOUT_MS = 60_000

/** @throws option-invalid for an endpoint that is no http(s) URL, or one that a token would cross unencrypted */
export function createHttpHub(options: HttpHubOptions): ModelHub {
  const { token, userAgent } = options
  const endpoint = parseHubEndpoint(options.endpoint, token !== null)
  const { origin } = new URL(endpoint)
  const send: typeof fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const headers = new Headers(init?.headers)
    headers.set('user-agent', userAgent)
    // A listing's next page may be anywhere.
    if (token !== null && url.origin === origin) headers.set('authorization', `Bearer ${token}`)
    return fetch(url, { ...init, headers })
  }
  const question = (model: string, revision: string, path: string | null) => ({
    endpoint,
    model,
    revision,
    path,
    hasToken: token !== null,
  })

  async function list(model: string, revision: string, signal: AbortSignal): Promise<HubListing> {
    const where = `the listing of ${model} at ${endpoint}`
    const files: HubFile[] = []
    // The library's errors carry the status, but not the hub's own code for it.
    let errorCode: string | null = null
    const asked: typeof fetch = async (input, init) => {
      const bounded = { ...init, signal: AbortSignal.any([signal, AbortSignal.timeout(LIST_TIMEOUT_MS)]) }
      // Once more: a kept-alive connection may just have been closed by the other side.
      const response = await send(input, bounded).catch(() => send(input, bounded))
      errorCode = response.headers.get('x-error-code')
      return response
    }
    try {
      const call = { hubUrl: endpoint, fetch: asked }
      const info: unknown = await modelInfo({ ...call, name: model, revision, additionalFields: ['sha'] })
      const commit = parseCommit(typeof info === 'object' && info !== null && 'sha' in info ? info.sha : null, where)
      for await (const entry of listFiles({ ...call, repo: model, revision: commit, recursive: true })) {
        const file = parseHubEntry(entry, where)
        if (file !== null) files.push(file)
        if (files.length > MAX_FILES)
          throw new AppError(
            'download-mismatch',
            `${where} has more than ${MAX_FILES} files: is it a Hugging Face hub?`,
          )
      }
      return { commit, files }
    } catch (thrown) {
      signal.throwIfAborted()
      if (thrown instanceof AppError) throw thrown
      if (thrown instanceof HubApiError)
        throw hubRefusal({ status: thrown.statusCode, errorCode }, question(model, revision, null))
      if (thrown instanceof SyntaxError)
        throw new AppError('download-mismatch', `${where} is no JSON: is it a Hugging Face hub?`, { cause: thrown })
      throw hubUnreachable(endpoint, thrown)
    }
  }

  async function open(
    model: string,
    file: { readonly commit: string; readonly path: string; readonly start: number },
    signal: AbortSignal,
  ): Promise<HubStream> {
    const path = file.path.split('/').map(encodeURIComponent).join('/')
    // Without compression, so that positions are those of the file.
    const headers: Record<string, string> = { 'accept-encoding': 'identity' }
    if (file.start > 0) headers.range = `bytes=${file.start}-`
    let response: Response
    try {
      response = await send(`${endpoint}/${model}/resolve/${file.commit}/${path}`, { headers, signal })
    } catch (cause) {
      signal.throwIfAborted()
      throw hubUnreachable(endpoint, cause)
    }
    if (!response.ok || response.body === null) {
      await response.body?.cancel()
      const errorCode = response.headers.get('x-error-code')
      throw hubRefusal({ status: response.status, errorCode }, question(model, file.commit, file.path))
    }
    return { start: response.status === 206 ? rangeStart(response) : 0, bytes: response.body }
  }

  return { endpoint, list, open }
}

/** `content-range: bytes 100-199/200`; what cannot be read counts as the whole file, which a checksum then judges. */
function rangeStart(response: Response): number {
  const match = response.headers.get('content-range')?.match(/^bytes (\d+)-/)
  return match === null || match === undefined ? 0 : Number(match[1])
}

function parseHubEndpoint(text: string, hasToken: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const web = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (url === null || !web || url.username !== '' || url.password !== '')
    throw new AppError(
      'option-invalid',
      `endpoint ${text.replace(/\/\/[^/@]*@/, '//...@')} is no address of a hub: give --endpoint (or HF_ENDPOINT) like ${DEFAULT_ENDPOINT}, without credentials`,
    )
  const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (hasToken && url.protocol === 'http:' && !local)
    throw new AppError(
      'option-invalid',
      `endpoint ${url.origin} is not encrypted, so your token is not sent there: use https, or unset HF_TOKEN (keepready models pull --no-token)`,
    )
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

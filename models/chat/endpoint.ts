/**
 * The address of a chat-completions endpoint. Pure.
 */
import { AppError } from '../../src/errors.ts'

export interface ChatEndpoint {
  /** What requests are posted to. */
  readonly url: string
  /** The same for people and logs: no query, which may hold a key. */
  readonly shown: string
  /** The address is of this machine: nothing crosses a network unless that server passes it on. */
  readonly loopback: boolean
  /** Text would cross a network unencrypted. */
  readonly plainText: boolean
}

const PATH = '/chat/completions'

/**
 * A base URL as OpenAI-compatible servers document it (`https://host/v1`), or the whole address of the endpoint.
 * @throws option-invalid for what is no http(s) URL, and for one with a user name or password in it
 */
export function parseEndpoint(text: string): ChatEndpoint {
  if (!URL.canParse(text)) throw invalid('it is no URL', text)
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw invalid('it must start with https:// or http://', text)
  if (url.username !== '' || url.password !== '')
    throw invalid('it holds credentials, which belong in an environment variable', `${url.protocol}//...@${url.host}`)
  url.hash = ''
  if (!url.pathname.endsWith(PATH)) url.pathname = `${url.pathname.replace(/\/+$/, '')}${PATH}`
  const loopback = isLoopback(url.hostname)
  return {
    url: url.href,
    shown: `${url.origin}${url.pathname}`,
    loopback,
    plainText: url.protocol === 'http:' && !loopback,
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || /^127(\.\d+){3}$/.test(host) || host === '[::1]'
}

function invalid(problem: string, shown: string): AppError {
  return new AppError(
    'option-invalid',
    `endpoint ${shown}: ${problem}; give the base URL of an OpenAI-compatible server, e.g. http://localhost:8000/v1`,
  )
}

/**
 * Who may talk to the server at all (DESIGN section 14). One guard over every route but the probes.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../src/errors.ts'

export interface GuardConfig {
  /** Bearer token; null: no token, loopback only. */
  readonly token: string | null
  /** Host names, without port, that requests may name. */
  readonly allowedHosts: readonly string[]
}

const OPEN_PATHS: ReadonlySet<string> = new Set(['/livez', '/readyz'])
const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '::1']

/** @returns whether an address to listen on is only reachable from this machine */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** @throws listen-refused: an open listener without a token would hand histories to anyone on the network */
export function requireSafeListener(host: string, token: string | null): void {
  if (token !== null || isLoopback(host)) return
  throw new AppError(
    'listen-refused',
    `refusing to listen on ${host} without a token: set --token-file FILE (or KEEPREADY_TOKEN), or listen on 127.0.0.1`,
  )
}

/** Checks one request before its body is read. @throws unauthorized, host-not-allowed, origin-not-allowed, media-type-unsupported */
export function guardRequest(request: FastifyRequest, config: GuardConfig): void {
  const path = request.url.split('?')[0] ?? ''
  if (OPEN_PATHS.has(path)) return
  if (config.token !== null) requireToken(request.headers.authorization, config.token)
  else requireKnownHost(request.headers.host, config.allowedHosts)
  requireSameOrigin(request.headers.origin, config)
  if (request.method === 'POST') requireJson(request.headers['content-type'])
}

function requireToken(header: string | undefined, token: string): void {
  const given = header?.match(/^Bearer (.+)$/i)?.[1]
  if (given !== undefined && equalSecrets(given, token)) return
  throw new AppError('unauthorized', 'missing or wrong token: send the header `Authorization: Bearer TOKEN`')
}

/** Compares digests, so the time taken tells neither content nor length. */
function equalSecrets(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

/** Against DNS rebinding: a web page that resolves its own name to 127.0.0.1 still sends its own Host. */
function requireKnownHost(header: string | undefined, allowed: readonly string[]): void {
  const name = hostName(header ?? '')
  if ([...LOOPBACK_NAMES, ...allowed].includes(name)) return
  throw new AppError(
    'host-not-allowed',
    `host ${JSON.stringify(name)} is not one of ${[...LOOPBACK_NAMES, ...allowed].join(', ')}: add it with --allowed-host, or set a token`,
  )
}

function requireSameOrigin(origin: string | undefined, config: GuardConfig): void {
  if (origin === undefined) return
  const name = URL.canParse(origin) ? hostName(new URL(origin).host) : ''
  if ([...LOOPBACK_NAMES, ...config.allowedHosts].includes(name)) return
  throw new AppError(
    'origin-not-allowed',
    `requests from pages of ${origin} are not allowed: call the server from your agent's process`,
  )
}

function requireJson(header: string | undefined): void {
  if (header?.split(';')[0]?.trim().toLowerCase() === 'application/json') return
  throw new AppError(
    'media-type-unsupported',
    `content type ${header ?? '(none)'} is not supported: send application/json`,
  )
}

/** Host header or URL host without port and brackets. */
function hostName(host: string): string {
  return host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()
}

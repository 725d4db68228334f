/** keepready serve: the HTTP server. */
import { Command } from 'commander'
import { pino } from 'pino'
import { cacheFolders } from '../../../models/cache-folders.ts'
import {
  environmentName,
  flagName,
  parseServerConfig,
  publicConfig,
  SERVER_CONFIG_FIELDS,
  type ServerConfig,
} from '../../../server/config.schema.ts'
import { startServer } from '../../../server/main.ts'
import { AppError } from '../../errors.ts'
import { readEnvironment } from '../environment.ts'
import { findModel } from '../find-model.ts'
import { packageVersion } from '../package-version.ts'
import { readText } from '../read-text.ts'
import { withAction } from '../run-action.ts'

/** Values by configuration field, as typed. */
type ServeOptions = Readonly<Record<string, string | undefined>> & {
  readonly config?: string
  readonly tokenFile?: string
}

export function createCommand(): Command {
  const command = new Command('serve')
    .summary('HTTP server: score, plan, compact, validate')
    .description(
      'Serves readiness scores and compaction decisions over HTTP. Each option is also an environment variable and a key of\nthe config file; the flag wins over the environment, the environment over the file.',
    )
    .option('--config <file>', 'JSON file whose key "server" holds any of the fields below')
    .option('--token-file <file>', 'file that holds the bearer token: keeps it out of the process list')
  for (const { name, description } of SERVER_CONFIG_FIELDS) {
    command.option(`${flagName(name)} <value>`, `${description} [${environmentName(name)}]`)
  }
  command.addHelpText(
    'after',
    '\nExample:\n  $ keepready serve --router router/ --port 8088\n  $ curl -s localhost:8088/v1/plan -H "content-type: application/json" -d @request.json',
  )
  return withAction<ServeOptions>(command, async (context, options) => {
    const read = readConfig(options)
    const config = read.model === null ? read : { ...read, model: await findModel(read.model, context) }
    const server = await startServer({
      config,
      logger: pino({ level: config.logLevel }, pino.destination(2)),
      nowMs: context.nowMs,
      version: packageVersion(),
      caches: cacheFolders(readEnvironment()),
      onNote: (line) => context.writeErr(`${line}\n`),
    })
    context.writeErr(`config: ${JSON.stringify(publicConfig(config))}\n`)
    context.writeErr(`keepready listens on ${server.url} (try ${server.url}/info); Ctrl-C stops it\n`)
    await aborted(context.signal)
    context.writeErr('stopping: ending accepted work\n')
    await server.close()
    return { data: { url: server.url, stopped: true }, text: '' }
  })
}

function readConfig(options: ServeOptions): ServerConfig {
  const { config: file, tokenFile, ...flags } = options
  const token = tokenFile === undefined ? undefined : readText(tokenFile).trim()
  const known = Object.fromEntries(SERVER_CONFIG_FIELDS.map(({ name }) => [name, flags[name]]))
  return parseServerConfig({
    flags: token === undefined ? known : { ...known, token },
    environment: readEnvironment(),
    file: file === undefined ? {} : serverSection(file),
  })
}

function serverSection(path: string): Readonly<Record<string, unknown>> {
  const text = readText(path)
  try {
    const value = JSON.parse(text) as { server?: Record<string, unknown> } | null
    return value?.server ?? {}
  } catch (cause) {
    throw new AppError('option-invalid', `--config ${path} is not JSON: ${String(cause)}`, { cause })
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

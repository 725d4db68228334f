/**
 * Runs one command's action: prints its result or its error, and decides the exit code from the error family.
 */
import type { Command } from 'commander'
import { AppError, EXIT_CODE, EXIT_PARTIAL, toAppError } from '../errors.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

export type Action<Options> = (
  context: CommandContext,
  options: Options,
  args: readonly string[],
) => Promise<CommandResult>

/** Adds --json and --seed, and wires the action: every command goes through here. */
export function withAction<Options extends object>(command: Command, action: Action<Options>): Command {
  if (!command.options.some((option) => option.long === '--seed'))
    command.option('--seed <number>', 'accepted by every command; this one draws nothing at random')
  return command
    .option('--json', 'print the result as one JSON document on stdout', false)
    .action(async (...received: unknown[]) => {
      const self = received.at(-1) as Command
      const options = self.opts<Options & { json: boolean }>()
      process.exitCode = await runAction({ options, args: self.args, json: options.json, action })
    })
}

async function runAction<Options extends object>(run: {
  readonly options: Options
  readonly args: readonly string[]
  readonly json: boolean
  readonly action: Action<Options>
}): Promise<number> {
  const abort = new AbortController()
  const onSignal = (): void => {
    if (abort.signal.aborted) process.exit(EXIT_CODE.interrupted)
    abort.abort(
      new AppError(
        'interrupted',
        'interrupted: no file is left half-written; run the same command again (extract and train go on where they stopped)',
      ),
    )
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  const context: CommandContext = {
    writeOut: (text) => process.stdout.write(text),
    writeErr: (text) => process.stderr.write(text),
    signal: abort.signal,
    nowMs: () => performance.now(),
    interactive: process.stderr.isTTY === true,
  }
  try {
    const result = await run.action(context, run.options, run.args)
    context.writeOut(renderResult(result, run.json))
    return result.partial === true ? EXIT_PARTIAL : 0
  } catch (thrown) {
    const error = abort.signal.aborted ? toAppError(abort.signal.reason) : toAppError(thrown)
    if (run.json)
      context.writeOut(
        `${JSON.stringify({ error: { code: error.code, message: error.message, details: error.details } })}\n`,
      )
    context.writeErr(`keepready: ${error.message} [${error.code}]\n`)
    if (error.family === 'invariant') context.writeErr(`${stackOf(error)}\n`)
    return EXIT_CODE[error.family]
  } finally {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}

function renderResult(result: CommandResult, json: boolean): string {
  if (json) return `${result.rawJson ?? JSON.stringify(result.data)}\n`
  return result.text === '' ? '' : `${result.text.trimEnd()}\n`
}

function stackOf(error: AppError): string {
  return error.cause instanceof Error ? (error.cause.stack ?? error.message) : (error.stack ?? error.message)
}

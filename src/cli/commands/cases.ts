/**
 * `keepready cases FOLDER`: minimal inputs from public bug reports, and the right behaviour for each.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import { AppError } from '../../errors.ts'
import { parseCaseFile } from '../cases/case-file.schema.ts'
import { type CaseReport, hasPassed, runCase } from '../cases/run-case.ts'
import type { CommandResult } from '../command-context.ts'
import { readText } from '../read-text.ts'
import { withAction } from '../run-action.ts'

export function createCommand(): Command {
  const command = new Command('cases')
    .summary('inputs with the right behaviour written beside them')
    .description(
      'Runs every case file (*.json) of a folder through the same functions as the other commands, and prints one JSON\n' +
        'line per case: {id, operation, checks, detail, output}, then `N passed, N failed`. Exit code 1 when one failed.',
    )
    .argument('<folder>', 'folder of case files')
    .addHelpText('after', '\nExample:\n  $ npm run cases -- ../shared/cases')
  return withAction(command, async (_, __, [folder = '.']) => runAll(folder))
}

async function runAll(folder: string): Promise<CommandResult> {
  const reports: CaseReport[] = []
  for (const name of await caseNames(folder)) reports.push(await runFile(folder, name))
  const failed = reports.filter((report) => !hasPassed(report)).length
  const summary = `${reports.length - failed} passed, ${failed} failed`
  return {
    data: { cases: reports, passed: reports.length - failed, failed },
    text: [...reports.map((report) => JSON.stringify(report)), summary].join('\n'),
    partial: failed > 0,
  }
}

/** A file that is no case has failed; it does not stop the others. */
async function runFile(folder: string, name: string): Promise<CaseReport> {
  try {
    return await runCase(parseCaseFile(name, readText(join(folder, name))))
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    return {
      id: name.replace(/\.json$/, ''),
      operation: 'none',
      checks: {},
      detail: { thrown: cause.message },
      output: null,
    }
  }
}

async function caseNames(folder: string): Promise<readonly string[]> {
  try {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()
    if (names.length > 0) return names
  } catch (cause) {
    throw new AppError('file-not-found', `${folder} cannot be read as a folder of case files: check the path`, {
      cause,
    })
  }
  throw new AppError('file-not-found', `${folder} holds no case file: they end in .json`)
}

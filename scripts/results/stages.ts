/**
 * Stages of `npm run results`: each is one keepready command in a process of its own. A stage whose command and inputs
 * have not changed since it ended is not run again, so that a stopped run goes on.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFile } from '../../models/package-root.ts'

export interface Stage {
  readonly name: string
  /** Arguments of keepready. */
  readonly args: readonly string[]
  /** Files whose bytes decide the result, beside the arguments. */
  readonly inputs: readonly string[]
  /** There when it has ended. */
  readonly output: string
  /** Exit codes that mean success: import says 1 where single records were damaged. */
  readonly codes?: readonly number[]
}

export interface StageOutcome {
  readonly seconds: number
  readonly reused: boolean
}

interface Stamp {
  readonly key: string
  readonly seconds: number
}

/** @throws Error when the command fails; what it printed stands on stderr */
export async function runStage(work: string, stage: Stage): Promise<StageOutcome> {
  const stamps = readStamps(work)
  const key = keyOf(stage)
  const known = stamps[stage.name]
  if (known?.key === key && existsSync(stage.output)) return { seconds: known.seconds, reused: true }
  process.stderr.write(`\n== ${stage.name}: keepready ${stage.args.join(' ')}\n`)
  const start = performance.now()
  const code = await runCommand(stage.args)
  if (!(stage.codes ?? [0]).includes(code)) throw new Error(`stage ${stage.name} ended with exit code ${code}`)
  const seconds = (performance.now() - start) / 1000
  writeFileSync(
    stampsPath(work),
    `${JSON.stringify({ ...readStamps(work), [stage.name]: { key, seconds } }, null, 2)}\n`,
  )
  return { seconds, reused: false }
}

function runCommand(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [packageFile('bin', 'keepready.js'), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      if (code === null) reject(new Error(`the command was ended by ${signal}`))
      else resolve(code)
    })
  })
}

function keyOf({ args, inputs }: Stage): string {
  const hash = createHash('sha256').update(JSON.stringify(args))
  for (const input of inputs) hash.update(readFileSync(input))
  return hash.digest('hex')
}

function stampsPath(work: string): string {
  return join(work, 'stages.json')
}

function readStamps(work: string): Readonly<Record<string, Stamp>> {
  const path = stampsPath(work)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, Stamp>) : {}
}

/**
 * Stages of `npm run results`: each is one keepready command in a process of its own. A stage whose command and inputs
 * have not changed since it ended is not run again, so that a stopped run goes on.
 */
import { spawn } from 'node:child_process'
import { packageFile } from '../../models/package-root.ts'
import { isDone, markDone, stageKey } from '../../src/cli/stage-stamps.ts'

export interface Stage {
  readonly name: string
  /** Arguments of keepready. */
  readonly args: readonly string[]
  /** Files whose bytes decide the result, beside the arguments. */
  readonly inputs: readonly string[]
  /** In the work folder; there when it has ended. */
  readonly output: string
  /** Exit codes that mean success: import says 1 where single records were damaged. */
  readonly codes?: readonly number[]
}

/**
 * @returns seconds; null where it was done already
 * @throws Error when the command fails; what it printed stands on stderr
 */
export async function runStage(work: string, stage: Stage): Promise<number | null> {
  const { name, args, inputs, output, codes = [0] } = stage
  const folder = { directory: work, stamps: 'stages.json' }
  const key = stageKey(inputs, args)
  if (isDone(folder, { name, key, output })) return null
  process.stderr.write(`\n== ${name}: keepready ${args.join(' ')}\n`)
  const start = performance.now()
  const code = await runCommand(args)
  if (!codes.includes(code)) throw new Error(`stage ${name} ended with exit code ${code}`)
  await markDone(folder, { name, key })
  return (performance.now() - start) / 1000
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

/**
 * Tests that need the larger real logs and weights of ../shared: they run when the folder is there and say why they skip
 * otherwise. CI sets KEEPREADY_REQUIRE_SHARED=1, which turns a skip into a failure.
 */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { packageFile } from '../models/package-root.ts'

// An empty variable is an unset one.
const folder = resolve(process.env.KEEPREADY_SHARED || packageFile('..', 'shared'))
const required = process.env.KEEPREADY_REQUIRE_SHARED === '1'

export function sharedPath(...path: readonly string[]): string {
  return join(folder, ...path)
}

/** SmolLM2-135M-Instruct as ../shared/models/fetch-smollm2.mjs writes it. */
export const SMOLLM2 = join(homedir(), '.cache', 'keepready', 'smollm2-135m-instruct')

function itWithPath(
  path: string,
  how: string,
): (name: string, test: () => void | Promise<void>, timeoutMs?: number) => void {
  // Reporters fold skipped tests, so the reason is said once per file as well.
  if (!existsSync(path) && !required) process.stderr.write(`tests that need ${path} are skipped: ${how}\n`)
  return (name, test, timeoutMs) => {
    if (existsSync(path)) it(name, test, timeoutMs)
    else if (required) {
      it(name, () => {
        expect(existsSync(path), `${path} is required here: ${how}`).toBe(true)
      })
    } else it.skip(`${name} [skipped: ${path} is not there; ${how}]`, test)
  }
}

export const itWithShared = itWithPath(folder, 'set KEEPREADY_SHARED to the folder with the real logs')
export const itWithSmolLm2 = itWithPath(
  join(SMOLLM2, 'model.safetensors'),
  'make it with `node ../shared/models/fetch-smollm2.mjs`',
)

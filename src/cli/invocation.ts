/**
 * How the person at the terminal calls this program: `keepready` where it is installed, `node bin/keepready.js` in a clone.
 */
import { basename, relative } from 'node:path'

/** @param script process.argv[1]: the path as started, links not resolved */
export function invocationOf(script: string | undefined, workingDirectory: string): string {
  if (script === undefined || !basename(script).endsWith('.js')) return 'keepready'
  const path = relative(workingDirectory, script)
  return `node ${path.startsWith('..') ? script : path}`
}

import { readFileSync } from 'node:fs'
import { packageFile } from '../../models/package-root.ts'
import { AppError } from '../errors.ts'

/** `version` of the installed package. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) return String(manifest.version)
  throw new AppError('invariant', 'package.json has no version')
}

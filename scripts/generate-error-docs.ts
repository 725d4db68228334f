/**
 * Writes docs/errors.md.
 *   npx tsx scripts/generate-error-docs.ts
 */
import { writeFileSync } from 'node:fs'
import { packageFile } from '../models/package-root.ts'
import { renderErrorDocs } from './error-docs.ts'

writeFileSync(packageFile('docs', 'errors.md'), renderErrorDocs())

/**
 * Writes docs/protocol-rules.md.
 *   npx tsx scripts/generate-protocol-docs.ts
 */
import { writeFileSync } from 'node:fs'
import { packageFile } from '../models/package-root.ts'
import { renderProtocolDocs } from './protocol-docs.ts'

writeFileSync(packageFile('docs', 'protocol-rules.md'), renderProtocolDocs())

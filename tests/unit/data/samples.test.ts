import { readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { claudeCodeToAnthropicMessages } from '../../../data/import/claude-code-messages.ts'
import { importFiles } from '../../../data/import/import-files.ts'
import { packageFile } from '../../../models/package-root.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../src/protocol/split-history.ts'
import { validateHistory } from '../../../src/protocol/validate-history.ts'

const folder = packageFile('data', 'samples')
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length + 1))
const readme = readFileSync(`${folder}/README.md`, 'utf8')
/** As the issue sets it; read as decimal megabytes. */
const MAX_BYTES = 4_000_000

describe('the sample logs', () => {
  it('import without a damaged record: at least 60 runs of at least 3 formats, as many as the README says', async () => {
    const { trajectories, files: reports } = await importFiles([folder])
    expect(reports.filter((file) => file.error !== null || file.damage.length > 0)).toEqual([])
    expect(trajectories.length).toBeGreaterThanOrEqual(60)
    expect(new Set(trajectories.map((run) => run.format)).size).toBeGreaterThanOrEqual(3)
    const groups = new Set(trajectories.map((run) => run.group)).size
    expect(readme).toContain(`${trajectories.length} runs of ${groups} groups`)
  })

  it('stay under 4 MB', () => {
    expect(files.reduce((sum, file) => sum + statSync(`${folder}/${file}`).size, 0)).toBeLessThanOrEqual(MAX_BYTES)
  })

  it('each have a licence beside them and a line in the README', () => {
    const logs = files.filter((file) => file !== 'README.md' && !file.endsWith('LICENSE'))
    for (const log of logs) {
      expect(files, `licence of ${log}`).toContain(`${log.slice(0, log.lastIndexOf('/'))}/LICENSE`)
      expect(readme).toContain(`| ${log} | ${statSync(`${folder}/${log}`).size} |`)
    }
  })

  it('hold a long history for the demo that is a valid Anthropic request', () => {
    const body = claudeCodeToAnthropicMessages(`${folder}/demo-history/demo-history.claude-code.jsonl`)
    const history = parseHistory(body, 'anthropic-messages')
    expect(validateHistory(history)).toEqual([])
    expect(splitHistory(history).interactions.length).toBeGreaterThanOrEqual(30)
  })
})

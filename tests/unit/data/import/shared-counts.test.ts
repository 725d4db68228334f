/**
 * Interaction counts of all real logs of our formats in ../shared/trajectories against their INDEX.csv, which other code
 * counted. Every difference stands in DIFFERENT with its reason.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { claudeCodeToAnthropicMessages } from '../../../../data/import/claude-code-messages.ts'
import { importFiles } from '../../../../data/import/import-files.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { validateHistory } from '../../../../src/protocol/validate-history.ts'
import { importText, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

/** INDEX.csv format name -> folders below ../shared/trajectories are imported as a whole. */
const OURS =
  /^(?:tau-bench\(openai-chat\)|who-and-when|swe-agent-traj|claude-code-jsonl|claude-code|pi-session-v1|openai-chat)$/

interface IndexRow {
  readonly file: string
  readonly id: string
  readonly interactions: number
}

/** A quoted label may hold line breaks: a row is what starts with a file name, id, format and a number. */
function readIndex(path: string): readonly IndexRow[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line): readonly IndexRow[] => {
      const [, file, id, format, count] = /^([^,"]+),([^,]*),([^,]+),(\d+),/.exec(line) ?? []
      return file !== undefined && OURS.test(format ?? '') ? [{ file, id: id ?? '', interactions: Number(count) }] : []
    })
}

const DIFFERENT: Readonly<Record<string, { readonly ours: number; readonly why: string }>> = {
  'pi/before-compaction.jsonl': {
    ours: 471,
    why: '13 assistant records have no content and an errorMessage: failed calls (formats.md: no interaction)',
  },
  'pi/large-session.jsonl': {
    ours: 439,
    why: '14 assistant records have no content and an errorMessage: failed calls (formats.md: no interaction)',
  },
  'entire-cli/86-4e0c91f5c0-0.claude-code.jsonl': {
    ours: 42,
    why: 'one line of model <synthetic> stands for an API error (formats.md: no model call)',
  },
}

async function countByFile(folders: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const { trajectories } of [await importFiles(folders)])
    for (const run of trajectories) {
      const trial = run.format === 'tau-bench' ? `#${run.id.split('/').at(-1)}` : ''
      const key = run.source.file + trial
      counts.set(key, (counts.get(key) ?? 0) + run.interactions.length)
    }
  return counts
}

function compare(index: readonly IndexRow[], counts: ReadonlyMap<string, number>): readonly string[] {
  return index.flatMap((row) => {
    const trial = row.file.startsWith('tau-bench') ? `#${row.id}` : ''
    const expected = DIFFERENT[row.file]?.ours ?? row.interactions
    const found = counts.get(row.file + trial)
    return found === expected
      ? []
      : [`${row.file}${trial}: INDEX ${row.interactions}, expected ${expected}, imported ${found}`]
  })
}

describe('interaction counts of the real logs', () => {
  itWithShared('equal INDEX.csv but for the named differences', async () => {
    const index = readIndex(sharedPath('trajectories', 'INDEX.csv'))
    expect(index.length).toBeGreaterThan(400)
    const folders = ['tau-bench', 'who-and-when', 'swe-agent', 'claude-code', 'pi']
    const counts = await countByFile(folders.map((folder) => sharedPath('trajectories', folder)))
    expect(compare(index, counts)).toEqual([])
  })

  itWithShared('equal long/INDEX.csv', async () => {
    const folders = [
      'cipher-box',
      'entire-cli',
      'entire-skills',
      'livemcpbench',
      'oh-my-posh',
      'packmind-context-evaluator',
    ]
    const index = readIndex(sharedPath('trajectories', 'long', 'INDEX.csv'))
    const counts = await countByFile(folders.map((folder) => sharedPath('trajectories', 'long', folder)))
    const here = index.filter((row) => folders.includes(row.file.split('/')[0] ?? '') && counts.has(row.file))
    expect(here.length).toBe(counts.size)
    expect(counts.size).toBeGreaterThanOrEqual(43)
    expect(compare(here, counts)).toEqual([])
  })

  itWithShared('all Claude Code sessions render as Anthropic requests that break no rule', () => {
    const sessions = ['cipher-box', 'entire-cli', 'entire-skills', 'oh-my-posh', 'packmind-context-evaluator'].flatMap(
      (folder) =>
        readdirSync(sharedPath('trajectories', 'long', folder))
          .filter((file) => file.endsWith('.claude-code.jsonl'))
          .map((file) => sharedPath('trajectories', 'long', folder, file)),
    )
    expect(sessions.length).toBeGreaterThanOrEqual(35)
    for (const session of sessions) {
      const history = parseHistory(claudeCodeToAnthropicMessages(session), 'anthropic-messages')
      expect(validateHistory(history), session).toEqual([])
    }
  })

  itWithShared(
    'case 27: four interactions, each result at its own call, the late copy dropped and reported',
    async () => {
      const path = sharedPath('cases', '27-tool-call-id-reuse.json')
      const { input }: { input: unknown } = JSON.parse(readFileSync(path, 'utf8'))
      const imported = await importText('case.json', JSON.stringify(input))
      expect(
        only(imported).interactions.flatMap((entry) =>
          entry.toolCalls.map((call, at) => [call.name, entry.observations[at]?.content]),
        ),
      ).toEqual([
        ['get_user', 'Ana'],
        ['calculate', '255'],
        ['date', '09:00'],
      ])
      expect(only(imported).interactions).toHaveLength(4)
      expect(imported.files[0]?.damage).toHaveLength(1)
    },
  )

  itWithShared('leave no result of a real Claude Code, pi, tau-bench or SWE-agent log without its call', async () => {
    const folders = ['tau-bench', 'swe-agent', 'pi', 'long/cipher-box', 'long/entire-cli', 'long/oh-my-posh']
    const { files } = await importFiles(folders.map((folder) => sharedPath('trajectories', folder)))
    expect(files.flatMap((file) => file.damage)).toEqual([])
  })
})

/**
 * Everything in ../shared/trajectories: every file is imported or refused with the right reason, and the interaction counts
 * are those of the INDEX.csv files, which other code counted, but for the differences that tests/fixtures/index-differences.ts
 * explains one by one.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { claudeCodeToAnthropicMessages } from '../../../../data/import/claude-code-messages.ts'
import { type ImportResult, importFiles } from '../../../../data/import/import-files.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { validateHistory } from '../../../../src/protocol/validate-history.ts'
import { importText, only } from '../../../fixtures/import-log.ts'
import { INDEX_DIFFERENCES, NOT_LOGS, REFUSED_FILES } from '../../../fixtures/index-differences.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const ROOT = 'trajectories/'

interface IndexRow {
  /** Path below ../shared/trajectories. */
  readonly file: string
  readonly id: string
  readonly format: string
  readonly interactions: number
}

/** A quoted label may hold line breaks: a row is what starts with a file name, id, format and a number. */
function readIndex(folder: string): readonly IndexRow[] {
  return readFileSync(sharedPath('trajectories', folder, 'INDEX.csv'), 'utf8')
    .split('\n')
    .flatMap((line): readonly IndexRow[] => {
      const [, file = '', id = '', format = '', count] = /^([^,"]+),([^,]*),([^,]+),(\d+),/.exec(line) ?? []
      return count === undefined ? [] : [{ file: folder + file, id, format, interactions: Number(count) }]
    })
}

const INDEX = (): readonly IndexRow[] => [...readIndex(''), ...readIndex('long/')]

/** Read once for all tests here. */
let imported: Promise<ImportResult> | undefined
function everything(): Promise<ImportResult> {
  imported ??= importFiles([sharedPath('trajectories')])
  return imported
}

const below = (name: string): string => name.slice(ROOT.length)

/** Interactions by file; a tau-bench file holds one row per trial. Sub-agents count to their file. */
function countByPlace(result: ImportResult): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const run of result.trajectories) {
    const trial = run.format === 'tau-bench' ? `#${run.id.split('/').at(-1)}` : ''
    const place = below(run.source.file) + trial
    counts.set(place, (counts.get(place) ?? 0) + run.interactions.length)
  }
  return counts
}

describe('../shared/trajectories', () => {
  itWithShared(
    'interaction counts equal the INDEX.csv files but for the differences explained',
    async () => {
      const index = INDEX()
      expect(index).toHaveLength(550)
      const counts = countByPlace(await everything())
      const wrong = index.flatMap((row) => {
        const place = row.format.startsWith('tau-bench') ? `${row.file}#${row.id}` : row.file
        const expected = INDEX_DIFFERENCES[row.file]?.ours ?? row.interactions
        const found = counts.get(place)
        return found === expected
          ? []
          : [`${place} (${row.format}): INDEX ${row.interactions}, expected ${expected}, imported ${found}`]
      })
      expect(wrong).toEqual([])
    },
    60_000,
  )

  itWithShared('no difference is explained that is none', () => {
    const rows = new Map(INDEX().map((row) => [row.file, row.interactions]))
    for (const [file, { ours }] of Object.entries(INDEX_DIFFERENCES)) {
      expect(rows.has(file), file).toBe(true)
      expect(ours, file).not.toBe(rows.get(file))
    }
  })

  itWithShared(
    'every file is imported, or refused for the reason in the table, or no log at all',
    async () => {
      const { files, notLogs } = await everything()
      const refused = files.flatMap((file) =>
        file.error === null ? [] : [`${below(file.file)}: ${file.error.code} ${file.error.message}`],
      )
      const expected = Object.entries(REFUSED_FILES).map(([file, { code }]) => `${file}: ${code}`)
      expect(refused.filter((line) => !expected.some((start) => line.startsWith(start)))).toEqual([])
      expect(expected.filter((start) => !refused.some((line) => line.startsWith(start)))).toEqual([])
      expect(notLogs.map(below).filter((name) => !NOT_LOGS.some((pattern) => pattern.test(name)))).toEqual([])
      const empty = files.filter((file) => file.error === null && file.copyOf === null && file.runs === 0)
      expect(empty.map((file) => [below(file.file), file.emptyRuns.length > 0])).toEqual(
        empty.map((file) => [below(file.file), true]),
      )
    },
    60_000,
  )

  itWithShared(
    'no result of a Claude Code, pi, tau-bench or SWE-agent log is left without its call',
    async () => {
      const { files } = await everything()
      const ours = ['claude-code', 'pi', 'tau-bench', 'swe-agent']
      const logs = files.filter((file) => file.format !== null && ours.includes(file.format))
      expect(logs.length).toBeGreaterThan(60)
      const damaged = logs.filter((file) => !file.file.includes('/claude-code/ccl-'))
      expect(damaged.flatMap((file) => file.damage)).toEqual([])
    },
    60_000,
  )

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
})

itWithShared(
  'case 27: four interactions, each result at its own call, the late copy dropped and reported',
  async () => {
    const path = sharedPath('cases', '27-tool-call-id-reuse.json')
    const { input }: { input: unknown } = JSON.parse(readFileSync(path, 'utf8'))
    const result = await importText('case.json', JSON.stringify(input))
    expect(
      only(result).interactions.flatMap((entry) =>
        entry.toolCalls.map((call, at) => [call.name, entry.observations[at]?.content]),
      ),
    ).toEqual([
      ['get_user', 'Ana'],
      ['calculate', '255'],
      ['date', '09:00'],
    ])
    expect(only(result).interactions).toHaveLength(4)
    expect(result.files[0]?.damage).toHaveLength(1)
  },
)

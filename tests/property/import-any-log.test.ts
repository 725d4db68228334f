import { readFileSync } from 'node:fs'
import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { importFiles } from '../../data/import/import-files.ts'
import { readRuns, writeRuns } from '../../data/store/runs.ts'
import { fixturePath, withFolder } from '../fixtures/import-log.ts'

const FIXTURES = [
  'tau-bench.json',
  'openai-chat.json',
  'openai-chat-messages.jsonl',
  'anthropic-messages.json',
  'pi-v1.jsonl',
  'pi-v3.jsonl',
  'who-and-when.json',
  'swe-agent.traj',
  'swe-agent-history-only.traj',
  'claude-code-v1.jsonl',
  'claude-code-v2.jsonl',
  'codex.jsonl',
  'gemini-cli-session.jsonl',
  'gemini-cli-stream.jsonl',
  'openhands-events.jsonl',
  'openhands-completion.json',
  'openhands-devai.json',
  'atif-v1.7.json',
  'google-adk.json',
  'mini-swe-agent-1.1.traj.json',
  'inspect-ai.json',
  'langchain.json',
  'langsmith.json',
] as const

/** Values that real logs have had where another was expected. */
const odd = fc.oneof(
  fc.constantFrom(null, '', [], {}, 0, 'REDACTED', [null], [['x']], '\ud800'),
  fc.jsonValue({ maxDepth: 2 }),
)

/** Puts `value` at the `at`-th place of the tree (places are counted depth first). */
function replaceAt(tree: unknown, at: number, value: unknown): unknown {
  let left = at
  const walk = (node: unknown): unknown => {
    if (left === 0) {
      left = -1
      return value
    }
    left -= 1
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, walk(child)]))
  }
  return walk(tree)
}

const countPlaces = (tree: unknown): number =>
  typeof tree !== 'object' || tree === null
    ? 1
    : Object.values(tree).reduce((sum: number, child) => sum + countPlaces(child), 1)

describe('a log with one odd value anywhere', () => {
  test.prop([fc.constantFrom(...FIXTURES), fc.nat(), odd], { numRuns: 200 })(
    'is imported into valid rows or refused with a named error, and never stops the batch',
    async (name, place, value) => {
      const text = readFileSync(fixturePath(name), 'utf8')
      const isLines = name.endsWith('.jsonl')
      const tree: unknown = isLines
        ? text
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
        : JSON.parse(text)
      const changed = replaceAt(tree, 1 + (place % (countPlaces(tree) - 1)), value)
      const changedText =
        isLines && Array.isArray(changed)
          ? changed.map((row) => JSON.stringify(row)).join('\n')
          : JSON.stringify(changed)
      await withFolder({ [name]: changedText }, async (folder) => {
        const { trajectories, files } = await importFiles([folder])
        expect(files).toHaveLength(1)
        if (trajectories.length === 0) return
        await writeRuns(`${folder}/runs`, trajectories)
        expect(await readRuns(`${folder}/runs`)).toEqual(trajectories)
      })
    },
  )
})

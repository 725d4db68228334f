/** Cases whose input is a log: written to a file as it is, imported, and where more is asked than parsing, made a history. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sumUsage } from '../../../data/import/claude-code-usage.ts'
import { importFiles } from '../../../data/import/import-files.ts'
import type { FormatName } from '../../../data/import/importer.ts'
import { FORMAT_NAMES } from '../../../data/import/importer.ts'
import { trajectoryHistory } from '../../protocol/convert/trajectory-history.ts'
import type { JsonObject } from '../../protocol/segment.ts'
import { splitHistory } from '../../protocol/split-history.ts'
import type { Trajectory } from '../../trajectory/trajectory.ts'
import type { CaseFile } from './case-file.schema.ts'
import type { CaseResult } from './case-result.ts'
import { performOn } from './history-case.ts'
import { historyFormat } from './render-for.ts'

/** Names that cases give to logs; what is not here and no importer's name is told by its content. */
const IMPORT_FORMATS: Readonly<Record<string, FormatName>> = {
  'chat-jsonl': 'openai-chat',
  'claude-code-jsonl': 'claude-code',
  'codex-rollout': 'codex',
  'pi-session': 'pi',
  'ai-sdk-ui-messages': 'ai-sdk-ui',
}

export async function runLogCase(given: CaseFile): Promise<CaseResult> {
  const folder = await mkdtemp(join(tmpdir(), 'keepready-case-'))
  try {
    const path = join(folder, given.input_lines === undefined ? 'case.json' : 'case.jsonl')
    await writeFile(path, given.input_lines?.join('\n') ?? given.inputText ?? '')
    const { trajectories, files } = await importFiles([path], { format: importFormat(given.format) })
    const [file] = files
    if (file?.error !== null && file?.error !== undefined) throw file.error
    const usage = await sumUsage(path)
    const [first] = trajectories
    const output: JsonObject = {
      runs: trajectories.map(describeRun),
      contents: trajectories.flatMap(contentsOf),
      damage: (file?.damage ?? []).map((entry) => ({ line: entry.line ?? null, reason: entry.reason })),
      ignored: { ...file?.ignored },
      api_calls: usage.apiCalls,
      output_tokens: usage.outputTokens,
    }
    const performed = first === undefined ? NOTHING : performOnRun(given, first)
    return {
      given,
      input: performed.input,
      rendered: performed.rendered,
      output: { ...output, ...performed.output },
      trajectory: first ?? null,
      thrown: null,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const NOTHING = { input: null, rendered: null, output: {} } as const

/** Where more is asked than parsing: the run as a history of the target's format, OpenAI chat where it names none. */
function performOnRun(given: CaseFile, run: Trajectory): Pick<CaseResult, 'input' | 'rendered' | 'output'> {
  if (given.operation === 'parse') return NOTHING
  const { history, losses } = trajectoryHistory(run, historyFormat(given.target ?? '') ?? 'openai-chat')
  const input = splitHistory(history)
  const { output, rendered } = performOn(given, input)
  return { input, rendered, output: { ...output, import_losses: [...losses] } }
}

function importFormat(name: string): string {
  if (Object.hasOwn(IMPORT_FORMATS, name)) return IMPORT_FORMATS[name] ?? 'auto'
  return FORMAT_NAMES.find((format) => format === name) ?? 'auto'
}

function describeRun(run: Trajectory): JsonObject {
  return {
    id: run.id,
    parent: run.parent,
    task: run.task,
    turns: run.turns.map((turn) => ({ before: turn.before, kind: turn.kind, text: turn.text })),
    interactions: run.interactions.map((entry) => ({
      index: entry.index,
      reasoning: entry.reasoning,
      text: entry.text,
      tool_calls: entry.toolCalls.map((call) => ({ ...call })),
      observations: entry.observations.map((answer) => ({ ...answer })),
    })),
  }
}

/** Texts in the order of the log: task, then interactions with the turns between them. */
function contentsOf(run: Trajectory): readonly string[] {
  const texts = run.task === '' ? [] : [run.task]
  for (const entry of run.interactions) {
    texts.push(...run.turns.filter((turn) => turn.before === entry.index).map((turn) => turn.text))
    texts.push(entry.text, ...entry.observations.map((answer) => answer.content))
  }
  const end = run.interactions.length
  texts.push(...run.turns.filter((turn) => turn.before >= end).map((turn) => turn.text))
  return texts.filter((text) => text !== '')
}

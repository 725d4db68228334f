/**
 * Made-up logs of any size for the import benchmark: one agent run after the other, as each format writes it. Same seed,
 * same bytes. Pure.
 */
import { createRng, type Rng } from '../rng.ts'

export const GENERATED_FORMATS = ['openai-chat', 'anthropic-messages', 'claude-code', 'codex', 'pi'] as const
export type GeneratedFormat = (typeof GENERATED_FORMATS)[number]

interface Step {
  readonly id: string
  readonly reasoning: string
  readonly text: string
  readonly command: string
  readonly result: string
}

interface Run {
  readonly id: string
  readonly task: string
  readonly steps: readonly Step[]
}

const STEPS = 30
/** Tool results of real coding runs: most are short, some are whole files. */
const RESULT_LINES = [3, 8, 20, 40, 120] as const

/** Lines of one log of at least `bytes` UTF-16 units; each ends in a line break. */
export function* generateLog(format: GeneratedFormat, bytes: number, seed = 0): Generator<string> {
  const rng = createRng(seed)
  let written = 0
  for (let number = 0; written < bytes; number += 1) {
    const run = makeRun(rng, number)
    for (const record of WRITERS[format](run)) {
      const line = `${JSON.stringify(record)}\n`
      written += line.length
      yield line
    }
  }
}

function makeRun(rng: Rng, number: number): Run {
  return {
    id: `run-${number}`,
    task: `Task ${number}: ${sentence(rng, 40)}`,
    steps: Array.from({ length: STEPS }, (_, step) => ({
      id: `call_${number}_${step}`,
      reasoning: sentence(rng, 30),
      text: sentence(rng, 12),
      command: `grep -rn "${word(rng)}" src/${word(rng)} | head -${rng.nextBelow(50)}`,
      result: code(rng, RESULT_LINES[rng.nextBelow(RESULT_LINES.length)] ?? 3),
    })),
  }
}

const SYLLABLES = ['re', 'ta', 'lo', 'min', 'for', 'use', 'get', 'par', 'ser', 'node', 'tex', 'li', 'ne', 'co', 'de']

function word(rng: Rng): string {
  const count = 1 + rng.nextBelow(3)
  let text = ''
  for (let at = 0; at < count; at += 1) text += SYLLABLES[rng.nextBelow(SYLLABLES.length)] ?? ''
  return text
}

function sentence(rng: Rng, words: number): string {
  return Array.from({ length: words }, () => word(rng)).join(' ')
}

/** Quotes, tabs and line breaks as often as in source text: they are escapes in JSON. */
function code(rng: Rng, lines: number): string {
  return Array.from(
    { length: lines },
    (_, line) =>
      `${line + 1}\tconst ${word(rng)} = ${word(rng)}("${word(rng)}", ${rng.nextBelow(1000)}) // ${sentence(rng, 5)}`,
  ).join('\n')
}

const WRITERS: Readonly<Record<GeneratedFormat, (run: Run) => Iterable<object>>> = {
  'openai-chat': (run) => [{ model: 'm', session_id: run.id, messages: openAiMessages(run) }],
  'anthropic-messages': (run) => [{ model: 'm', system: SYSTEM, messages: anthropicMessages(run) }],
  'claude-code': claudeCodeLines,
  codex: codexLines,
  pi: piLines,
}

const SYSTEM = 'You are a coding agent.'

function openAiMessages(run: Run): readonly object[] {
  return [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: run.task },
    ...run.steps.flatMap((step) => [
      {
        role: 'assistant',
        content: step.text,
        tool_calls: [
          {
            id: step.id,
            type: 'function',
            function: { name: 'bash', arguments: JSON.stringify({ command: step.command }) },
          },
        ],
      },
      { role: 'tool', tool_call_id: step.id, content: step.result },
    ]),
    { role: 'assistant', content: 'Done.' },
  ]
}

function anthropicMessages(run: Run): readonly object[] {
  return [
    { role: 'user', content: run.task },
    ...run.steps.flatMap((step) => [
      { role: 'assistant', content: claudeBlocks(step) },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: step.id, content: step.result }] },
    ]),
    { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
  ]
}

function claudeBlocks(step: Step): readonly object[] {
  return [
    { type: 'thinking', thinking: step.reasoning, signature: 'c2lnbmF0dXJlLW9uZQ==' },
    { type: 'text', text: step.text },
    { type: 'tool_use', id: step.id, name: 'Bash', input: { command: step.command } },
  ]
}

/** With the structured copy of each result and the progress lines that make up much of real files. */
function* claudeCodeLines(run: Run): Generator<object> {
  const place = (uuid: string, parentUuid: string | null): object => ({
    parentUuid,
    isSidechain: false,
    userType: 'external',
    cwd: '/home/user/project',
    sessionId: run.id,
    version: '2.1.0',
    gitBranch: 'main',
    uuid,
    timestamp: '2026-01-01T00:00:00.000Z',
  })
  let last = `${run.id}-task`
  yield { ...place(last, null), type: 'user', message: { role: 'user', content: run.task } }
  const assistant = (uuid: string, id: string, block: object): object => {
    const parent = last
    last = uuid
    const usage = { input_tokens: 3, cache_read_input_tokens: 20000, output_tokens: 100 }
    return {
      ...place(uuid, parent),
      type: 'assistant',
      message: { model: 'm', id, type: 'message', role: 'assistant', content: [block], stop_reason: null, usage },
      requestId: id,
    }
  }
  for (const step of run.steps) {
    for (const [at, block] of claudeBlocks(step).entries()) yield assistant(`${step.id}-${at}`, step.id, block)
    const progress = `${step.id}-p`
    yield {
      ...place(progress, last),
      type: 'progress',
      toolUseID: step.id,
      data: { type: 'bash_progress', output: step.result.slice(0, 400) },
    }
    const uuid = `${step.id}-r`
    const content = [{ type: 'tool_result', tool_use_id: step.id, content: step.result }]
    const toolUseResult = { stdout: step.result, stderr: '', interrupted: false }
    yield { ...place(uuid, progress), type: 'user', message: { role: 'user', content }, toolUseResult }
    last = uuid
  }
  yield assistant(`${run.id}-end`, `${run.id}-end`, { type: 'text', text: 'Done.' })
}

function* codexLines(run: Run): Generator<object> {
  const line = (type: string, payload: object): object => ({ timestamp: '2026-01-01T00:00:00.000Z', type, payload })
  const message = (role: string, type: string, text: string): object =>
    line('response_item', { type: 'message', role, content: [{ type, text }] })
  yield line('session_meta', { id: run.id, cwd: '/w', base_instructions: { text: SYSTEM } })
  yield message('user', 'input_text', run.task)
  for (const step of run.steps) {
    const call = {
      name: 'shell',
      arguments: JSON.stringify({ command: ['bash', '-lc', step.command] }),
      call_id: step.id,
    }
    yield line('response_item', { type: 'reasoning', summary: [{ type: 'summary_text', text: step.reasoning }] })
    yield message('assistant', 'output_text', step.text)
    yield line('event_msg', { type: 'agent_message', message: step.text })
    yield line('response_item', { type: 'function_call', ...call })
    yield line('response_item', { type: 'function_call_output', call_id: step.id, output: step.result })
    yield line('event_msg', { type: 'token_count', info: null })
  }
  yield message('assistant', 'output_text', 'Done.')
}

function* piLines(run: Run): Generator<object> {
  if (run.id === 'run-0') yield { type: 'session', id: 'bench', timestamp: '2026-01-01T00:00:00.000Z', cwd: '/w' }
  const message = (value: object): object => ({
    type: 'message',
    timestamp: '2026-01-01T00:00:00.000Z',
    message: value,
  })
  yield message({ role: 'user', content: [{ type: 'text', text: run.task }] })
  for (const step of run.steps) {
    const content = [
      { type: 'thinking', thinking: step.reasoning },
      { type: 'text', text: step.text },
      { type: 'toolCall', id: step.id, name: 'bash', arguments: { command: step.command } },
    ]
    yield message({ role: 'assistant', content, stopReason: 'toolUse', usage: { input: 3, output: 100 } })
    const result = [{ type: 'text', text: step.result }]
    yield message({ role: 'toolResult', toolCallId: step.id, toolName: 'bash', content: result, isError: false })
  }
}

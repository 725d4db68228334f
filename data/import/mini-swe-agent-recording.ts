/**
 * `agent.log` of mini-swe-agent: what it printed. "mini-swe-agent (step N, $c):" begins a model message, "User:" the
 * observation after it. The terminal has wrapped long lines at its width; they stay wrapped, for nothing says which breaks
 * were the model's own.
 */
import { AppError } from '../../src/errors.ts'
import type { LogFile, ReadContext } from './importer.ts'
import { textAction } from './mini-swe-agent-action.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'
import { settledTerminal, stripAnsi } from './strip-ansi.ts'
import { readTextLines } from './text-lines.ts'

const STEP = /^mini-swe-agent \(step \d+, \$[\d.]+\):$/
const ROLE = /^(System|User|Exit):$/
/** Lines of the terminal, not of the run: a spinner, and what the model client prints beside an error. */
const NOISE =
  /^(?:[\u2800-\u28ff|/\\-]? ?Waiting for the LM to respond\.*|Give Feedback \/ Get Help: \S+|LiteLLM\.Info: .*|Provider List: \S+)$/
/** A message of the user role that ends the run: an output for nobody. */
const SUBMITTED = /^Saved trajectory to /

export function isRecording(head: string): boolean {
  return stripAnsi(head)
    .split('\n')
    .some((line) => STEP.test(line.trim()))
}

interface Section {
  readonly role: 'System' | 'User' | 'Exit' | 'Step'
  readonly line: number
  readonly lines: string[]
}

export async function readRecording(
  file: LogFile,
  context: ReadContext,
): Promise<{
  readonly run: RunBuilder
  readonly system: string
  readonly truncated: boolean
  readonly instance: null
}> {
  const run = createRunBuilder()
  let system = ''
  let section: Section | null = null
  let truncated = false
  const end = (): void => {
    if (section === null) return
    const text = section.lines.join('\n').trim()
    const source = { file: file.name, line: section.line }
    if (section.role === 'Step') run.call({ ...textAction(text, ''), source })
    else if (section.role === 'System') system = text
    else if (section.role === 'Exit') truncated = /Exceeded|Limit|Error/.test(text)
    else if (run.count === 0) run.turn('user', text, source)
    else if (run.result({ callId: null, name: null, content: text, isError: false }) !== 'paired')
      run.turn('user', text, source)
  }
  for await (const { line, text: raw, problem } of readTextLines(file.path)) {
    if (problem !== null) context.damage({ line, reason: problem })
    const text = settledTerminal(raw)
    const words = text.trim()
    const role: Section['role'] | null = STEP.test(words) ? 'Step' : roleAt(words, section)
    if (role !== null) {
      end()
      section = { role, line, lines: [] }
    } else if (NOISE.test(words)) context.ignore('terminal line')
    else if (section !== null && !SUBMITTED.test(words)) section.lines.push(text)
    else context.ignore('line outside of the run')
  }
  end()
  if (run.count === 0)
    throw new AppError(
      'log-malformed',
      `${file.name} is no recording of mini-swe-agent: it has no "mini-swe-agent (step N, $c):"`,
    )
  return { run, system, truncated, instance: null }
}

/** An output may hold such a line too: after a model message only User or Exit follows, and only the first one counts. */
function roleAt(text: string, section: Section | null): Section['role'] | null {
  const role = ROLE.exec(text)?.[1]
  if (role === 'System') return section === null ? role : null
  if (role === 'User') return section === null || section.role === 'Step' || section.role === 'System' ? role : null
  return role === 'Exit' && section?.role !== 'System' ? role : null
}

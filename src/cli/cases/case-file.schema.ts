/**
 * A case file: one minimal input and the right behaviour (../shared/cases/README.md).
 */
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { scanJson } from '../../protocol/scan-json.ts'

const OPERATIONS = [
  'compact',
  'render',
  'render-twice',
  'parse',
  'parse+render',
  'count',
  'compact+count',
  'trigger',
  'estimate-context',
  'build-summary-request',
] as const
export type CaseOperation = (typeof OPERATIONS)[number]

const caseFile = z.looseObject({
  id: z.string().min(1),
  title: z.string().default(''),
  format: z.string(),
  operation: z.enum(OPERATIONS),
  target: z.string().optional(),
  params: z.record(z.string(), z.json()).default({}),
  assert: z.record(z.string(), z.json()).default({}),
  input: z.json().optional(),
  input_lines: z.array(z.string()).optional(),
})

export type CaseFile = z.infer<typeof caseFile> & {
  /** Exact JSON text of `input`, since values lose bytes; null for a case with lines. */
  readonly inputText: string | null
}

/** @throws case-malformed naming the field */
export function parseCaseFile(name: string, text: string): CaseFile {
  const root = readRoot(name, text)
  const parsed = caseFile.safeParse(JSON.parse(text))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw malformed(name, `/${(issue?.path ?? []).map(String).join('/')}: ${issue?.message ?? 'unknown'}`)
  }
  const node = root.members.get('input')
  if (node === undefined && parsed.data.input_lines === undefined)
    throw malformed(name, 'it has neither input nor input_lines')
  return { ...parsed.data, inputText: node === undefined ? null : text.slice(node.start, node.end) }
}

function readRoot(name: string, text: string) {
  try {
    return scanJson(text, { keepDepth: 1 })
  } catch (cause) {
    if (cause instanceof AppError) throw malformed(name, cause.message)
    throw cause
  }
}

function malformed(name: string, problem: string): AppError {
  return new AppError('case-malformed', `${name} is no case file: ${problem}; format: ../shared/cases/README.md`)
}

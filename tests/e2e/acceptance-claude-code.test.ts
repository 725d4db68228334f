/**
 * The bar on real logs: the whole path of commands on the Claude Code runs of ../shared/trajectories/long, with
 * lineage labels. Two claims on held-out pairs: the evidence features alone rank well within a run, and hidden vectors
 * of the embedded model beside them do not cost.
 *
 * Capped to about two minutes on two idle cores; docs/results.md has the figures with the defaults.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { ComparisonRecord, EvaluationRecord } from '../../training/evaluation/evaluation-record.ts'
import { runCommand } from '../fixtures/run-command.ts'
import { itWithShared, sharedPath } from '../shared-folder.ts'

const FOLDERS = ['cipher-box', 'entire-cli', 'entire-skills', 'oh-my-posh', 'packmind-context-evaluator']
/** Of 35: rotations test on five of six parts, the sixth always trains (DESIGN section 12). */
const TESTED_RUNS = 29
/** Fixed: the same runs, rotations, first weights and bootstrap draws each time. */
const EXTRACT_CAPS = ['--view-budget', '512', '--max-checkpoints-per-run', '16', '--seed', '0']
const TRAIN_CAPS = ['--width', '256', '--seed', '1']
const EVALUATE_CAPS = ['--bootstrap', '500', '--seed', '1']
/** The issue asks for it; a throwaway logistic regression reached .90 [.89 .92] before the product. */
const LEAST_EVIDENCE_AUROC = 0.87
/** Two minutes when idle; other tests share the cores. */
const TIMEOUT_MS = 600_000

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keepready-acceptance-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the whole path on Claude Code logs', () => {
  itWithShared(
    'evidence reaches a within-run AUROC of .87 and hidden vectors beside it are not shown to be worse',
    async () => {
      const record = await evaluateClaudeCodeLogs()
      expect(record.counts.headline.runs).toBe(TESTED_RUNS)
      expect(withinAuroc(record, 'evidence')).toBeGreaterThanOrEqual(LEAST_EVIDENCE_AUROC)
      // An evidence feature that leaked the future would not stop near the measured .90.
      expect(withinAuroc(record, 'evidence')).toBeLessThan(0.97)
      const { interval } = comparisonOf(record, 'hidden+evidence', 'evidence')
      expect(interval).not.toBeNull()
      expect(interval?.high).toBeGreaterThanOrEqual(0)
      // The same rule does find a difference where there is one: hidden states of a 3.5 M-parameter LM alone are worse.
      expect(comparisonOf(record, 'hidden', 'evidence').verdict).toBe('is-worse')
    },
    TIMEOUT_MS,
  )
})

async function evaluateClaudeCodeLogs(): Promise<EvaluationRecord> {
  const path = (name: string): string => join(folder, name)
  await succeed(['import', ...claudeCodeLogs(), '--format', 'claude-code', '--out', path('runs.jsonl')])
  await succeed(['annotate', path('runs.jsonl'), '--annotator', 'lineage', '--out', path('labels.jsonl')])
  const labelled = [path('runs.jsonl'), '--labels', path('labels.jsonl')]
  await succeed(['extract', ...labelled, '--model', 'tiny', ...EXTRACT_CAPS, '--out', path('dataset')])
  await succeed(['train', path('dataset'), '--inputs', 'auto', ...TRAIN_CAPS, '--out', path('router')])
  const trained = [path('dataset'), '--router', path('router')]
  await succeed(['evaluate', ...trained, ...EVALUATE_CAPS, '--out', path('report')])
  return JSON.parse(readFileSync(path('report/metrics.json'), 'utf8')) as EvaluationRecord
}

function claudeCodeLogs(): readonly string[] {
  return FOLDERS.flatMap((name) => {
    const directory = sharedPath('trajectories', 'long', name)
    return readdirSync(directory)
      .filter((file) => file.endsWith('.claude-code.jsonl'))
      .map((file) => join(directory, file))
  })
}

async function succeed(args: readonly string[]): Promise<void> {
  const { code, stderr } = await runCommand(args)
  expect(code, `keepready ${args[0]}: ${stderr.slice(-2000)}`).toBe(0)
}

/** Headline pairs of all runs. */
function withinAuroc(record: EvaluationRecord, name: string): number {
  const predictor = record.predictors.find((one) => one.name === name)
  const scope = predictor?.subsets.headline.scopes.find((one) => one.kind === 'all')
  return scope?.metrics.withinAuroc.value ?? Number.NaN
}

function comparisonOf(record: EvaluationRecord, a: string, b: string): ComparisonRecord {
  const found = record.comparisons.find(
    (one) => one.a === a && one.b === b && one.scope === 'all' && one.metric === 'withinAuroc',
  )
  if (found === undefined) throw new Error(`the report does not compare ${a} with ${b}`)
  return found
}

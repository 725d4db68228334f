/**
 * The group of a run (DESIGN section 2): rotations, bootstrap and near-copy checks never split one. Pure.
 */
import { createHash } from 'node:crypto'

/** First 16 hex digits of SHA-256 over the text with all white space runs made one space: layout never splits a group. */
export function textKey(text: string): string {
  return createHash('sha256').update(text.replace(/\s+/g, ' ').trim()).digest('hex').slice(0, 16)
}

/** All trials and all models of one tau-bench task. */
export function tauBenchGroup(taskId: string): string {
  return `tau-bench:task-${taskId}`
}

/** 42 questions stand in both sub-sets of Who&When: the question, not the file, is the unit. */
export function whoAndWhenGroup(question: string): string {
  return `who-and-when:${textKey(question)}`
}

/** `owner__repo-number` as SWE-bench names its instances, at the end of a file or folder name. */
const SWE_BENCH_INSTANCE = /(?:^|[_/\\])([A-Za-z0-9.-]+__[A-Za-z0-9.-]+-\d+)$/

/** The instance at the end of a file's own name, if it carries one. */
export function sweBenchInstance(stem: string): string | null {
  return SWE_BENCH_INSTANCE.exec(stem)?.[1] ?? null
}

/**
 * The instance that a SWE-agent run worked on: its SWE-bench name if the file carries one, else the issue text (runs of
 * one issue under several configurations share it), else the file's own name.
 */
export function sweAgentGroup(run: { readonly stem: string; readonly issue: string }): string {
  const instance = sweBenchInstance(run.stem)
  if (instance !== null) return `swe-agent:${instance}`
  return run.issue.trim() === '' ? `swe-agent:${run.stem}` : `swe-agent:${textKey(run.issue)}`
}

/** A session and everything that came from it: sub-agents, resumed copies. */
export function sessionGroup(format: string, sessionId: string): string {
  return `${format}:${sessionId}`
}

/** A message list that names no session: runs of the same task are near copies of each other. */
export function taskGroup(format: string, task: string): string {
  return `${format}:task-${textKey(task)}`
}

/**
 * A super-benchmark run: expert and masked variants of a task, and all agents on it, share a group. A masked variant is
 * named `<task>_<part that is left to do>`. Files are `<agent>_<expert|masked>__<slug>`, upstream `.../<...>_<set>/<slug>`.
 */
export function superBenchmarkGroup(run: { readonly name: string; readonly query: string }): string {
  const [, set, slug] = /(expert|masked)(?:__|[/\\])([^/\\]+?)(?:\.ipynb)?$/.exec(run.name) ?? []
  if (slug !== undefined) return `super-benchmark:${set === 'masked' ? slug.replace(/_[^_]+$/, '') : slug}`
  const repository = /Git repository:\s*(\S+)/.exec(run.query)?.[1]
  return `super-benchmark:${repository ?? `task-${textKey(run.query)}`}`
}

/** All runs of one task of a web benchmark, e.g. `webarena` and `task_20`. */
export function webTaskGroup(benchmark: string, task: string): string {
  return `${benchmark}:${task}`
}

/** All runs on one SWE-bench instance of the format's agents. */
export function instanceGroup(format: string, instance: string): string {
  return `${format}:${instance}`
}

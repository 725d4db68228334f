/**
 * What an importer is: one per log format, from a log on disk to canonical trajectories.
 * An importer never throws for a damaged record: it leaves the record out and says so. It throws `log-malformed` when the
 * file as a whole cannot be read as its format.
 */
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import type { JsonLine } from './json-lines.ts'

export const FORMAT_NAMES = [
  'tau-bench',
  'openai-chat',
  'anthropic-messages',
  'pi',
  'who-and-when',
  'swe-agent',
  'claude-code',
] as const
export type FormatName = (typeof FORMAT_NAMES)[number]

/** Why a file is of a format, in words: printed beside the format. */
export interface Evidence {
  readonly because: string
}

/** The head of a file, as detection sees it. A one-line JSON file has both forms. */
export interface LogSample {
  readonly fileName: string
  /** The whole file parsed as one JSON value; undefined when it is not one. */
  readonly document: unknown
  /** Values of its first whole lines; empty when it is no JSONL. */
  readonly records: readonly unknown[]
}

/** A record that was left out. */
export interface Damage {
  /** 1-based line of a JSONL file. */
  readonly line?: number
  /** 0-based element of a list in one JSON file. */
  readonly index?: number
  readonly reason: string
}

export interface LogFile {
  /** Where it is read from. */
  readonly path: string
  /** How rows and reports name it: as given, or relative to the folder given. */
  readonly name: string
  /** SHA-256 of the bytes, hex: ids of formats that have none come from it. */
  readonly sha256: string
  readonly sample: LogSample
  /** Whole text of a JSON file, BOM removed. */
  readonly text: () => Promise<string>
  /** Lines of a JSONL file, streamed; damaged ones come as problems. */
  readonly lines: () => AsyncIterable<JsonLine>
}

export interface ImportedLog {
  /** In the order of the file; sub-agents after the run they belong to. May hold runs without an interaction. */
  readonly trajectories: readonly Trajectory[]
  readonly damage: readonly Damage[]
  /** Records that are no part of any run by their kind, e.g. `progress`: counted, not damage. */
  readonly ignored: Readonly<Record<string, number>>
}

export interface Importer {
  readonly name: FormatName
  /** One line for --help and for format errors. */
  readonly summary: string
  readonly detect: (sample: LogSample) => Evidence | null
  readonly read: (file: LogFile) => Promise<ImportedLog>
}

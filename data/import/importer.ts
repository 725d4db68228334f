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
  'openai-responses',
  'anthropic-messages',
  'gemini-contents',
  'ai-sdk',
  'ai-sdk-ui',
  'claude-code',
  'codex',
  'gemini-cli',
  'pi',
  'who-and-when',
  'swe-agent',
  'mini-swe-agent',
  'openhands',
  'openhands-study',
  'atif',
  'inspect-ai',
  'langchain',
  'langsmith',
  'langgraph',
  'google-adk',
  'specstory',
  'browsergym',
  'super-notebook',
  'tapeagents',
  'livemcpbench',
  'curie',
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
  /** First 64 KiB as text, without a BOM; "" for a zip archive. For formats that are no JSON. */
  readonly head: string
  /** It begins with the signature of a zip archive. */
  readonly isZip: boolean
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
  /** What is wrong with the file as a whole, e.g. that it is torn and `sample.document` holds its complete elements. */
  readonly damage: readonly Damage[]
  /** Whole text of a JSON or text file, BOM removed; of a torn JSON file the text that `sample.document` was read from. */
  readonly text: () => Promise<string>
  /** Lines of a JSONL file, streamed; damaged ones come as problems. */
  readonly lines: () => AsyncIterable<JsonLine>
}

/** How one file is read, and where what is left out of it is reported. */
export interface ReadContext {
  /** Also the branches that a rewind or an edit has left behind, each as a trajectory of its own (id `...~branch2`). */
  readonly allBranches: boolean
  damage(entry: Damage): void
  /** Records that are no part of any run by their kind, e.g. `progress`: counted, not damage. */
  ignore(kind: string, count?: number): void
}

export interface Importer {
  readonly name: FormatName
  /** One line for --help and for format errors. */
  readonly summary: string
  readonly detect: (sample: LogSample) => Evidence | null
  /**
   * Runs in the order of the file, each as soon as it is whole, so that a long JSONL needs the memory of its largest run;
   * sub-agents after the run they belong to. May hold runs without an interaction.
   */
  readonly read: (file: LogFile, context: ReadContext) => AsyncIterable<Trajectory>
}

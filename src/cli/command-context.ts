/**
 * What every command gets from the composition root: streams, clock, cancellation. Data goes to stdout, logs to stderr.
 */
export interface CommandContext {
  /** Data: the result, or one JSON document with --json. */
  readonly writeOut: (text: string) => void
  /** Logs and progress. */
  readonly writeErr: (text: string) => void
  /** Aborted by Ctrl-C (SIGINT) or SIGTERM. */
  readonly signal: AbortSignal
  readonly nowMs: () => number
  /** stderr is a terminal: progress may redraw its line. */
  readonly interactive: boolean
}

/** What an action returns: the exit code is 0 unless the batch was partial. */
export interface CommandResult {
  /** The result as data: printed as one JSON document with --json. */
  readonly data: unknown
  /** The result for a person: printed to stdout without --json. */
  readonly text: string
  /** JSON that holds raw slices of a history: printed instead of `data`, which would serialise them again. */
  readonly rawJson?: string
  readonly partial?: boolean
}

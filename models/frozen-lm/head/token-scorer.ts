/**
 * Token scoring seam: how probable a language model finds tokens behind what it has read. One implementation
 * (load-token-scorer.ts) runs the whole decoder and its head; handles never cross a process boundary.
 */
import type { StateHandle } from '../port.ts'

export interface TokenScorer {
  /** Most tokens of one sequence. */
  readonly contextLength: number
  /**
   * Reads tokens behind `past` (null: from the start, which is not consumed) and gives the state after them; the caller
   * disposes it.
   * @throws context-too-short, session-failed, output-not-finite
   */
  read(tokens: Int32Array, past: StateHandle | null): Promise<StateHandle>
  /**
   * log p(tokens[k] | past, tokens[0 .. k)) for k = from .. tokens.length - 1, in nats; 1 <= from < tokens.length.
   * @throws context-too-short, session-failed, output-not-finite
   */
  score(
    tokens: Int32Array,
    options: { readonly past: StateHandle | null; readonly from: number },
  ): Promise<Float32Array>
  dispose(state: StateHandle): void
  close(): Promise<void>
}

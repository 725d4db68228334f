/**
 * What views need of a tokenizer; the tokenizer port of models/ satisfies it. Pure.
 */
export interface ViewTokenizer {
  /** Ids of plain text: literal special tokens stay text; no BOS. */
  encode(text: string): Int32Array
  /** Text of ids; bytes that do not form a whole character come out as U+FFFD. */
  decode(ids: ArrayLike<number>): string
  /** Ids every view starts with (BOS), often none. */
  readonly prefixIds: readonly number[]
}

/** Tokenizer seam: text to ids of the frozen LM's vocabulary. */
export interface Tokenizer {
  /** Ids of plain text: a literal special token in the text does not become one. No BOS. */
  encode(text: string): Int32Array
  /** Text of ids; inverse of encode for byte-level BPE. */
  decode(ids: ArrayLike<number>): string
  /** Ids a view must start with (BOS), empty if the model's tokenizer adds none. */
  readonly prefixIds: readonly number[]
  readonly vocabularySize: number
}

/** What a family reads a config.json through. */
import type { AppError } from '../../../src/errors.ts'
import type { readFields } from '../config-fields.schema.ts'

type Shape = Parameters<typeof readFields>[0]

export interface ConfigSource {
  /** Tokens of the longest view that will be read, where a rope depends on it; Infinity for the model's whole context. */
  readonly viewTokens: number
  /** `architectures[0]`, for the record and for messages. */
  readonly architecture: string
  /**
   * The fields of `shape`, checked.
   * @throws config-invalid
   */
  readonly read: <S extends Shape>(shape: S) => ReturnType<typeof readFields<S>>
  /** An error to throw: `config-invalid` with the path before the text. */
  readonly refuse: (text: string) => AppError
}

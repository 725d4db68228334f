/**
 * Token ids against golden values made with the Rust tokenizers library through transformers 5.24.0
 * (../shared/models/README.md); ids must be equal, literal special tokens in the text included.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../../models/package-root.ts'
import { loadTokenizer } from '../../../models/tokenizer/hf-tokenizer.ts'
import { itWithSmolLm2, SMOLLM2 } from '../../shared-folder.ts'

interface TokenizerGolden {
  readonly tokenizer: readonly { readonly text: string; readonly plain: number[]; readonly special: number[] }[]
}

function checkIds(directory: string, goldenPath: string): void {
  const golden = JSON.parse(readFileSync(goldenPath, 'utf8')) as TokenizerGolden
  const tokenizer = loadTokenizer(directory)
  expect(golden.tokenizer.length).toBeGreaterThan(5)
  for (const { text, plain, special } of golden.tokenizer) {
    expect([...tokenizer.encode(text)], `HINT plain text ${JSON.stringify(text)}`).toEqual(plain)
    expect(tokenizer.decode(plain)).toBe(text)
    expect(tokenizer.decode(special), 'special ids decode to their literal text').toBe(text)
  }
}

describe('token ids', () => {
  it('of the embedded model equal the golden ones', () => {
    checkIds(packageFile('models', 'tiny'), packageFile('tests', 'golden', 'tiny', 'golden.json'))
  })

  itWithSmolLm2('of SmolLM2 equal the golden ones', () => {
    checkIds(SMOLLM2, join(SMOLLM2, 'golden.json'))
  })
})

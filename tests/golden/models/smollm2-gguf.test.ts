/**
 * A real GGUF (Q4_1 with a Q8_0 embedding) against the safetensors file that ../shared/models/fetch-smollm2.mjs makes of it
 * with code of its own, and against the tokenizer.json that Hugging Face publishes for the model.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { openCheckpoint } from '../../../models/frozen-lm/checkpoint.ts'
import { convertGguf } from '../../../models/gguf/convert.ts'
import { packageFile } from '../../../models/package-root.ts'
import { loadTokenizer } from '../../../models/tokenizer/hf-tokenizer.ts'
import { itWithSmolLm2Gguf, SMOLLM2, SMOLLM2_GGUF } from '../../shared-folder.ts'

/** Of the script's model.safetensors (its constant SHA256). */
const WEIGHTS_SHA256 = 'd8d8571b3af99053c8ad455ce009d8479eec5da515f80a417c075d0a7f317904'

const folder = mkdtempSync(join(tmpdir(), 'keepready-smollm2-gguf-'))
afterAll(() => rmSync(folder, { recursive: true }))

itWithSmolLm2Gguf('SmolLM2 as GGUF becomes the same file of weights, the same config and the same tokens', async () => {
  const options = { file: SMOLLM2_GGUF, out: join(folder, 'out'), dtype: null, tokenizerFile: null }
  const { directory } = await convertGguf(options)
  const weights = readFileSync(join(directory, 'model.safetensors'))
  expect(createHash('sha256').update(weights).digest('hex')).toBe(WEIGHTS_SHA256)
  expect(openCheckpoint(directory).config).toEqual(openCheckpoint(SMOLLM2).config)

  const [ours, published] = [loadTokenizer(directory), loadTokenizer(SMOLLM2)]
  const text = ['README.md', 'docs/protocol-rules.md', 'tests/golden/models/smollm2-gguf.test.ts']
    .map((file) => readFileSync(packageFile(file), 'utf8'))
    .join('')
  expect([...ours.encode(text)]).toEqual([...published.encode(text)])
  expect(ours.prefixIds).toEqual(published.prefixIds)
})

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { embeddedModelDirectory, requireModelDirectory } from '../../../models/model-directory.ts'
import { packageFile } from '../../../models/package-root.ts'

describe('the embedded model', () => {
  it('is found whatever the working directory', () => {
    expect(existsSync(join(embeddedModelDirectory(), 'config.json'))).toBe(true)
  })
})

describe('requireModelDirectory', () => {
  it.each(['HuggingFaceTB/SmolLM2-135M', packageFile('package.json')])(
    'says what to do when %s is no directory',
    (name) => {
      expect(() => requireModelDirectory(name)).toThrow(
        expect.objectContaining({ code: 'model-not-found', message: expect.stringContaining('--model the directory') }),
      )
    },
  )
})

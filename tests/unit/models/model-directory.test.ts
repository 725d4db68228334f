import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { resolveModelDirectory } from '../../../models/model-directory.ts'
import { packageFile } from '../../../models/package-root.ts'

describe('resolveModelDirectory', () => {
  it('finds the embedded model by its name, whatever the working directory', () => {
    expect(existsSync(join(resolveModelDirectory('tiny'), 'config.json'))).toBe(true)
  })

  it('takes any other text as a path', () => {
    expect(resolveModelDirectory(packageFile('models'))).toBe(packageFile('models'))
  })

  it.each(['HuggingFaceTB/SmolLM2-135M', packageFile('package.json')])(
    'says what to do when %s is no directory',
    (name) => {
      expect(() => resolveModelDirectory(name)).toThrow(
        expect.objectContaining({ code: 'model-not-found', message: expect.stringContaining('--model the directory') }),
      )
    },
  )
})

/** The token of the hub, from where its own tools look for it. */
import { existsSync, readFileSync } from 'node:fs'
import { AppError } from '../../src/errors.ts'

/**
 * HF_TOKEN, else the file that `hf auth login` writes.
 * @returns null where there is none: public models need none
 * @throws file-unreadable; option-invalid for text that no header can hold
 */
export function readHubToken(
  environment: Readonly<Record<string, string | undefined>>,
  tokenFile: string,
): string | null {
  const named = environment.HF_TOKEN || environment.HUGGING_FACE_HUB_TOKEN
  const token = (named || readTokenFile(tokenFile)).trim()
  if (token === '') return null
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new AppError(
    'option-invalid',
    `${named ? 'HF_TOKEN' : tokenFile} holds blanks or signs that no token has: correct it, or pull with --no-token`,
  )
}

function readTokenFile(path: string): string {
  if (!existsSync(path)) return ''
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new AppError('file-unreadable', `cannot read the token in ${path}: correct its rights, or use --no-token`, {
      cause,
    })
  }
}

/**
 * Where models are kept on this machine: the hub cache that all Hugging Face tools share, and keepready's own folder. Pure
 * in the environment, which is read elsewhere.
 */
import { homedir } from 'node:os'
import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

export interface CacheFolders {
  /** `models--ORGANISATION--NAME/{blobs,refs,snapshots}` */
  readonly hub: string
  /** Checkpoints made by keepready or for it; converted GGUF files in `gguf/`. */
  readonly keepready: string
  /** Where `hf auth login` leaves its token. */
  readonly tokenFile: string
}

/** An empty variable is an unset one. Names and order: huggingface_hub's documentation of environment variables. */
export function cacheFolders(environment: Environment): CacheFolders {
  const get = (name: string): string | undefined => environment[name] || undefined
  const caches = get('XDG_CACHE_HOME') ?? join(homedir(), '.cache')
  const home = get('HF_HOME') ?? join(caches, 'huggingface')
  return {
    hub: get('HF_HUB_CACHE') ?? get('HUGGINGFACE_HUB_CACHE') ?? join(home, 'hub'),
    keepready: join(caches, 'keepready'),
    tokenFile: get('HF_TOKEN_PATH') ?? join(home, 'token'),
  }
}

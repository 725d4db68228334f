/**
 * The runtimes that extraction is compared with (tests/bench/peers): whether they are installed, and the same weights in
 * the form each of them reads.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../src/errors.ts'
import { writeDecoderGguf } from '../gguf/write-decoder.ts'
import { exportDecoder } from '../onnx/export-decoder.ts'
import { packageFile } from '../package-root.ts'
import { PEERS, type PeerName } from './bench-record.ts'
import { type Checkpoint, openCheckpoint } from './checkpoint.ts'

export interface Peer {
  readonly peer: PeerName
  /** Of its process. */
  readonly script: string
  /** Of its model files. */
  readonly directory: string
}

export interface PreparedPeers {
  readonly peers: readonly Peer[]
  readonly unavailable: readonly { readonly peer: PeerName; readonly reason: string }[]
}

interface PeerSource {
  readonly script: string
  readonly packageName: string
  readonly write: (checkpoint: Checkpoint, options: { readonly layer: number; readonly directory: string }) => void
}

const SOURCES: Readonly<Record<PeerName, PeerSource>> = {
  'transformers.js': { script: 'transformers-arm.js', packageName: '@huggingface/transformers', write: exportDecoder },
  'llama.cpp': {
    script: 'llama-arm.js',
    packageName: 'node-llama-cpp',
    write: (checkpoint, { layer, directory }) =>
      writeDecoderGguf(checkpoint, { layer, path: join(directory, 'model.gguf') }),
  },
}

/**
 * @param options.scratch an empty directory for the model files
 * @param options.home folder of the peers' package; default: where it lies in a clone
 */
export function preparePeers(options: {
  readonly directory: string
  readonly layer: number
  readonly scratch: string
  readonly home?: string
}): PreparedPeers {
  const { directory, layer, scratch, home = packageFile('tests', 'bench', 'peers') } = options
  const peers: Peer[] = []
  const unavailable: { readonly peer: PeerName; readonly reason: string }[] = []
  for (const peer of PEERS) {
    const { script, packageName, write } = SOURCES[peer]
    if (!existsSync(join(home, script))) {
      unavailable.push({ peer, reason: 'it is measured from a clone of the repository only' })
      continue
    }
    if (!existsSync(join(home, 'node_modules', packageName))) {
      unavailable.push({ peer, reason: 'not installed: run npm ci in tests/bench/peers' })
      continue
    }
    const target = join(scratch, peer)
    mkdirSync(target, { recursive: true })
    try {
      write(openCheckpoint(directory), { layer, directory: target })
      peers.push({ peer, script: join(home, script), directory: target })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'architecture-unsupported') throw error
      unavailable.push({ peer, reason: error.message })
    }
  }
  return { peers, unavailable }
}

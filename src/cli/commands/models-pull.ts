/** keepready models pull: a model of the hub into the hub cache. */
import { Command } from 'commander'
import { cacheFolders } from '../../../models/cache-folders.ts'
import { systemClock } from '../../../models/chat/clock.ts'
import { createHttpHub, DEFAULT_ENDPOINT } from '../../../models/hub/http-hub.ts'
import { type PulledModel, pullModel } from '../../../models/hub/pull-model.ts'
import { readHubToken } from '../../../models/hub/token.ts'
import { AppError } from '../../errors.ts'
import { createRng } from '../../rng.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { readEnvironment } from '../environment.ts'
import { formatBytes } from '../format-bytes.ts'
import { packageVersion } from '../package-version.ts'
import { type Progress, startProgress } from '../progress.ts'
import { withAction } from '../run-action.ts'

interface PullFlags {
  readonly revision: string
  readonly include: readonly string[]
  readonly endpoint?: string
  readonly yes: boolean
  readonly token: boolean
}

/** A person who means a small model notices a large one; 10 GB are half an hour on a usual line. */
const CONSENT_BYTES = 10e9
const STALL_MS = 60_000

export function createPull(): Command {
  const command = new Command('pull')
    .summary('download a model of the hub, or go on where a download stopped')
    .description(
      'Downloads config, tokenizer and safetensors weights of a model into the cache that all Hugging Face tools share ' +
        '(HF_HUB_CACHE, HF_HOME or ~/.cache/huggingface/hub). The same command goes on where a download stopped; every ' +
        'file is checked against its checksum. The token is that of HF_TOKEN or `hf auth login`.',
    )
    .argument('<model>', 'ORGANISATION/NAME')
    .option('--revision <name>', 'branch, tag or commit', 'main')
    .option('--include <patterns...>', 'download the files that match instead of the usual ones, e.g. *Q4_K_M.gguf', [])
    .option('--endpoint <url>', `another hub (default: HF_ENDPOINT or ${DEFAULT_ENDPOINT})`)
    .option('--yes', 'yes, download more than 10 GB', false)
    .option('--no-token', 'send no token, even if there is one')
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready models pull HuggingFaceTB/SmolLM2-135M-Instruct\n' +
        '  $ keepready models pull Qwen/Qwen3-0.6B-GGUF --include "*Q8_0.gguf"\n\n' +
        'Exit code 4: the connection broke (pull again) or the disk is full.',
    )
  return withAction<PullFlags>(command, async (context, flags, [model = '']) => runPull(context, flags, model))
}

async function runPull(context: CommandContext, flags: PullFlags, model: string): Promise<CommandResult> {
  const environment = readEnvironment()
  if (isTrue(environment.HF_HUB_OFFLINE))
    throw new AppError('option-invalid', 'HF_HUB_OFFLINE is set, so nothing is downloaded: unset it to pull')
  const folders = cacheFolders(environment)
  const endpoint = flags.endpoint ?? (environment.HF_ENDPOINT || DEFAULT_ENDPOINT)
  const token = flags.token ? readHubToken(environment, folders.tokenFile) : null
  const hub = createHttpHub({ endpoint, token, userAgent: `keepready/${packageVersion()}` })
  let progress: Progress | null = null
  const pulled = await pullModel({
    hub,
    hubCache: folders.hub,
    model,
    revision: flags.revision,
    include: flags.include,
    maxBytes: flags.yes ? Number.POSITIVE_INFINITY : CONSENT_BYTES,
    clock: systemClock,
    // Only spreads retries; no result depends on it.
    rng: createRng(process.pid),
    stallMs: STALL_MS,
    signal: context.signal,
    onWait(holder) {
      const who = holder === null ? '' : ` (process ${holder.pid} on ${holder.host}, since ${holder.since})`
      context.writeErr(`pull: another pull of ${model} is at work${who}; waiting for it, Ctrl-C stops\n`)
    },
    onPlan({ files, totalBytes, presentBytes, commit }) {
      const there = presentBytes === 0 ? '' : `, ${formatBytes(presentBytes)} of them there already`
      context.writeErr(
        `pull: ${files.length} files, ${formatBytes(totalBytes)}${there}, commit ${commit.slice(0, 8)}\n`,
      )
      if (presentBytes < totalBytes)
        progress = startProgress(context, { stage: 'pull', total: totalBytes / 1e6, unit: 'MB' })
    },
    onBytes: (bytes, path) => progress?.update(bytes / 1e6, path),
  })
  finish(progress, pulled)
  return { data: pulled, text: describe(pulled) }
}

function finish(progress: Progress | null, pulled: PulledModel): void {
  progress?.done(`${formatBytes(pulled.downloadedBytes)} downloaded, checksums right`)
}

function describe(pulled: PulledModel): string {
  const { model, revision, commit, directory, files } = pulled
  const name = revision === 'main' ? model : `${model}@${revision}`
  const gguf = files.find((file) => file.endsWith('.gguf'))
  return [
    `${pulled.downloadedBytes === 0 ? 'already there' : 'pulled'}: ${model} at ${revision} (${commit.slice(0, 8)}), ${files.length} files, ${formatBytes(pulled.totalBytes)}`,
    directory,
    gguf === undefined
      ? `next: keepready models info ${name}, or --model ${name} where a command takes a model`
      : `next: keepready models convert ${directory}/${gguf} --out DIR`,
  ].join('\n')
}

function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(1|true|yes|on)$/i.test(value)
}

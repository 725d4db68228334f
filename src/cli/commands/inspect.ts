/**
 * keepready inspect: what runs, labels, datasets and routers hold. Files are told by their content, not by their name.
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import type { LabelRow } from '../../../data/annotate/label-record.ts'
import { labelStats } from '../../../data/annotate/label-stats.ts'
import { labelStatsText } from '../../../data/annotate/label-stats-text.ts'
import { matchLabels } from '../../../data/annotate/match-labels.ts'
import { readJsonLines } from '../../../data/import/json-lines.ts'
import { readLabels } from '../../../data/store/labels.ts'
import { readRuns } from '../../../data/store/runs.ts'
import { MANIFEST_FILE } from '../../../models/router/artefact-files.ts'
import { AppError } from '../../errors.ts'
import type { Trajectory } from '../../trajectory/trajectory.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { startProgress } from '../progress.ts'
import { withAction } from '../run-action.ts'

export function createCommand(): Command {
  const command = new Command('inspect')
    .summary('what runs, labels, datasets and routers hold')
    .description(
      'Prints a card of each path: counts, groups, domains, tokens (o200k), cut runs, empty observations, prevalence, and ' +
        'groups that are one because their runs are near copies. Runs and labels given together are counted by domain as well. ' +
        'Of a router: what it reads, its metrics per rotation, operating points, learning curve, and what it was made from.',
    )
    .argument('<paths...>', 'runs.jsonl, labels.jsonl, dataset or router directories, told by their content')
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready inspect runs.jsonl labels.jsonl\n  $ keepready inspect dataset/\n  $ keepready inspect router/\n\nWhat the figures mean: docs/datasets.md, docs/router-artefact.md',
    )
  return withAction(command, inspect)
}

interface Card {
  readonly data: unknown
  readonly text: string
}

async function inspect(context: CommandContext, _options: object, paths: readonly string[]): Promise<CommandResult> {
  const cards: (Card & { readonly path: string })[] = []
  const runs: Trajectory[][] = []
  const labels: LabelRow[][] = []
  for (const path of paths) {
    context.signal.throwIfAborted()
    const kind = await kindOf(path)
    if (kind === 'router') {
      const { readRouterManifest } = await import('../../../models/router/artefact.ts')
      const { routerCard } = await import('../../../models/router/router-card.ts')
      const { routerCardText } = await import('../router-card-text.ts')
      const card = routerCard(readRouterManifest(path))
      cards.push({ path, data: card, text: routerCardText(card, path) })
      continue
    }
    // Tokenizer tables and Arrow are loaded for what needs them.
    const text = await import('../inspect-text.ts')
    if (kind === 'dataset') {
      const { inspectDataset } = await import('../../../data/inspect/inspect-dataset.ts')
      const card = await inspectDataset(path)
      cards.push({ path, data: card, text: text.datasetCardText(card, path) })
    } else if (kind === 'labels') {
      const rows = await readLabels(path)
      const { inspectLabels } = await import('../../../data/inspect/inspect-labels.ts')
      const card = inspectLabels(rows)
      labels.push([...rows])
      cards.push({ path, data: card, text: text.labelsCardText(card) })
    } else {
      const own = await readRuns(path)
      const { inspectRuns } = await import('../../../data/inspect/inspect-runs.ts')
      const progress = startProgress(context, { stage: 'inspect', total: own.length, unit: 'runs' })
      const card = inspectRuns(own, (done) => progress.update(done))
      progress.done(`${own.length} runs of ${path}`)
      runs.push([...own])
      cards.push({ path, data: card, text: text.runsCardText(card) })
    }
  }
  const together = runs.length === 1 && labels.length === 1 ? statsOf(runs[0] ?? [], labels[0] ?? []) : null
  return {
    data: {
      cards: cards.map(({ path, data }) => ({ path, card: data })),
      ...(together === null ? {} : { labels: together.data }),
    },
    text: [...cards.map(({ path, text }) => `== ${path}\n${text}`), ...(together === null ? [] : [together.text])].join(
      '\n\n',
    ),
  }
}

function statsOf(runs: readonly Trajectory[], rows: readonly LabelRow[]): Card {
  const stats = labelStats(matchLabels(runs, rows))
  return { data: stats, text: `== both together\n${labelStatsText(stats)}` }
}

/** @throws file-not-found, format-unknown */
async function kindOf(path: string): Promise<'runs' | 'labels' | 'dataset' | 'router'> {
  if (!existsSync(path)) throw new AppError('file-not-found', `${path} does not exist: check the path`)
  if (statSync(path).isDirectory()) return existsSync(join(path, MANIFEST_FILE)) ? 'router' : 'dataset'
  for await (const line of readJsonLines(path)) {
    if (line.kind === 'problem') break
    const { value } = line
    if (typeof value !== 'object' || value === null || !('schemaVersion' in value)) break
    if ('interactions' in value) return 'runs'
    if ('labels' in value) return 'labels'
    break
  }
  throw new AppError(
    'format-unknown',
    `${path} is neither runs nor labels nor a dataset nor a router: its first line is no row of keepready; ` +
      'make one with `keepready import`, `annotate` or `extract`',
    { details: { path } },
  )
}

/**
 * Cards of runs, labels and datasets for a person.
 */
import { type PairCount, prevalence } from '../../data/annotate/label-stats.ts'
import type { Distribution } from '../../data/inspect/distribution.ts'
import type { DatasetCard } from '../../data/inspect/inspect-dataset.ts'
import type { LabelsCard } from '../../data/inspect/inspect-labels.ts'
import type { RunsCard } from '../../data/inspect/inspect-runs.ts'
import type { GroupMerge } from '../../data/near-duplicates.ts'
import { createResultTable } from './result-table.ts'
import { oneLine } from './terminal-text.ts'

export function runsCardText(card: RunsCard): string {
  const domains = createResultTable(['domain', 'formats', '>runs', '>groups', '>interactions', '>tokens'])
  for (const domain of card.byDomain)
    domains.push([
      domain.name,
      domain.formats.join(', '),
      ...[domain.runs, domain.groups, domain.interactions, domain.tokens].map(whole),
    ])
  return [
    `runs: ${whole(card.runs)} in ${whole(card.groups)} groups, ${whole(card.interactions)} interactions, ${whole(card.tokens)} tokens (o200k)`,
    '',
    domains.toString(),
    '',
    distributionTable([
      ['interactions of a run', card.interactionsPerRun],
      ['tokens of a run', card.tokensPerRun],
      ['tokens of an interaction', card.tokensPerInteraction],
    ]),
    '',
    `cut by a limit           ${whole(card.truncated)} runs`,
    `without a checkpoint     ${whole(card.withoutCheckpoint)} runs of fewer than 3 interactions`,
    `sub-agents               ${whole(card.subAgents)} runs`,
    `observations             ${whole(card.observations)}, ${whole(card.emptyObservations)} empty, ${whole(card.errorObservations)} errors`,
    `calls without a result   in ${whole(card.unanswered)} interactions`,
    `turns between            ${whole(card.turns.user)} of a person, ${whole(card.turns.context)} of the harness, ${whole(card.turns.summary)} summaries`,
    '',
    nearCopiesText(card.nearCopies),
    `${whole(card.groupsAfterMerging)} groups for splits`,
  ].join('\n')
}

export function labelsCardText(card: LabelsCard): string {
  const annotators = createResultTable(['annotator', '>runs', '>pairs', '>READY'])
  for (const own of card.byAnnotator) annotators.push([own.name, whole(own.runs), whole(own.pairs), percent(own)])
  return [
    `labels: ${whole(card.runs)} runs, ${whole(card.interactions)} interactions, ${whole(card.all.pairs)} pairs, READY ${percent(card.all)}`,
    '',
    annotators.toString(),
    '',
    `${whole(card.ready)} interactions become READY within their run; evidence: ${whole(card.evidenceItems.uptake)} uptakes, ${whole(card.evidenceItems.veto)} vetoes`,
    distributionTable([['b - i, interactions', card.delay]]),
  ].join('\n')
}

export function datasetCardText(card: DatasetCard, directory: string): string {
  const { manifest } = card
  const domains = createResultTable(['domain', '>runs', '>groups', '>pairs', '>READY', '>pairs with future', '>READY'])
  for (const own of card.byDomain)
    domains.push([
      own.name,
      ...[own.runs, own.groups, own.pairs].map(whole),
      percent(own),
      whole(own.withFuture.pairs),
      percent(own.withFuture),
    ])
  const { cut, of } = card.truncatedViews
  return [
    `dataset ${directory}: ${whole(manifest.counts.trajectories)} runs in ${whole(manifest.counts.groups)} groups, ` +
      `${whole(card.all.pairs)} pairs, READY ${percent(card.all)} (${percent(card.withFuture)} with 5 or more interactions to come)`,
    `vectors: ${whole(manifest.counts.vectors)} of ${manifest.representation.model.name} layer ${manifest.representation.layer}, recipe ${manifest.recipe}, ${manifest.representation.storageDtype}`,
    '',
    domains.toString(),
    '',
    distributionTable([
      ['interactions of a run', card.interactionsPerRun],
      ["tokens of a source, frozen LM's", card.sourceTokens],
      ['tokens of a source, o200k', card.actingTokens],
      ['tokens of its view', card.viewTokens],
    ]),
    '',
    `views that are cut       ${whole(cut)} of ${whole(of)} interactions`,
    card.groupsPerPart === null
      ? 'parts of the rotations   too few groups to train: a group is one task'
      : `groups in the 6 parts    ${card.groupsPerPart.join(', ')} (seed ${manifest.seed})`,
    '',
    card.nearCopies === null
      ? 'near copies              not looked for when it was made: extract again to bring its groups up to date'
      : nearCopiesText(card.nearCopies),
  ].join('\n')
}

const SHOWN_MERGES = 20

/** Which groups are one, and the pair of runs that shares most for each join. */
function nearCopiesText(merges: readonly GroupMerge[]): string {
  if (merges.length === 0) return 'near copies: none'
  const members = merges.reduce((sum, merge) => sum + merge.members.length, 0)
  const table = createResultTable(['groups that are one', '>shared', 'by these runs'])
  for (const merge of merges.slice(0, SHOWN_MERGES)) {
    const best = [...merge.because].sort((a, b) => b.share - a.share)[0]
    table.push([
      oneLine(merge.members.slice(0, 3).join(' + ')) +
        (merge.members.length > 3 ? ` + ${merge.members.length - 3} more` : ''),
      best === undefined ? '' : `${Math.round(100 * best.share)} %`,
      best === undefined ? '' : oneLine(`${best.a} / ${best.b}`),
    ])
  }
  const more = merges.length > SHOWN_MERGES ? `\nand ${merges.length - SHOWN_MERGES} more: see --json` : ''
  return `near copies: ${whole(members)} groups are ${whole(merges.length)}, since runs share more than half of their 8-word shingles\n${table.toString()}${more}`
}

function distributionTable(rows: readonly (readonly [string, Distribution])[]): string {
  const table = createResultTable(['', '>10 %', '>median', '>90 %', '>max'])
  for (const [name, { p10, p50, p90, max }] of rows)
    table.push([name, ...[p10, p50, p90, max].map((value) => whole(Math.round(value)))])
  return table.toString()
}

function percent(count: PairCount): string {
  return count.pairs === 0 ? '-' : `${(100 * prevalence(count)).toFixed(1)} %`
}

function whole(value: number): string {
  return value.toLocaleString('en-US')
}

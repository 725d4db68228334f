/**
 * keepready labels agreement: how far two files of labels say the same.
 */
import { Command } from 'commander'
import { type LabelAgreement, labelAgreement } from '../../../data/annotate/label-agreement.ts'
import { readLabels } from '../../../data/store/labels.ts'
import { readRuns } from '../../../data/store/runs.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { createResultTable } from '../result-table.ts'
import { withAction } from '../run-action.ts'
import { wholeNumber } from '../whole-number.ts'

interface AgreementFlags {
  readonly runs?: string
  readonly worst: string
}

export function createAgreement(): Command {
  const command = new Command('agreement')
    .summary("two files of labels against each other: Cohen's kappa, boundaries")
    .description(
      'Compares the labels of runs that stand in both files: pairs (interaction, checkpoint) in a table of agreement, ' +
        "Cohen's kappa, and for interactions that become READY in both, whether B's boundary is earlier, equal or later.",
    )
    .argument('<A.jsonl>', 'labels')
    .argument('<B.jsonl>', 'other labels of the same runs')
    .option('--runs <runs.jsonl>', 'the runs: adds the agreement per domain')
    .option('--worst <n>', 'how many of the largest disagreements are listed', '10')
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready labels agreement lineage.jsonl reviewed.jsonl --runs runs.jsonl\n\nWhat labels mean: docs/labels.md',
    )
  return withAction<AgreementFlags>(command, compare)
}

async function compare(
  _context: CommandContext,
  flags: AgreementFlags,
  [pathA = '', pathB = '']: readonly string[],
): Promise<CommandResult> {
  const worst = wholeNumber('--worst', flags.worst, 0)
  const [a, b] = [await readLabels(pathA), await readLabels(pathB)]
  const agreement = labelAgreement(a, b, flags.runs === undefined ? null : await domainsOf(flags.runs))
  const disagreements = agreement.disagreements.slice(0, worst)
  return {
    data: { ...agreement, disagreements, disagreeing: agreement.disagreements.length },
    text: describe(agreement, { worst, pathA, pathB, runsPath: flags.runs ?? 'runs.jsonl' }),
  }
}

async function domainsOf(path: string): Promise<(id: string) => string> {
  const domains = new Map((await readRuns(path)).map((run) => [run.id, run.domain]))
  return (id) => domains.get(id) ?? 'not in the runs file'
}

function describe(
  agreement: LabelAgreement,
  given: { readonly worst: number; readonly pathA: string; readonly pathB: string; readonly runsPath: string },
): string {
  const { table, boundaries } = agreement
  const lines = [
    `A: ${given.pathA}, by ${agreement.annotatorsA.join(', ')}`,
    `B: ${given.pathB}, by ${agreement.annotatorsB.join(', ')}`,
    `${whole(agreement.runs)} runs in both${only('A', agreement.onlyInA)}${only('B', agreement.onlyInB)}`,
    ...(agreement.unmatchedInteractions === 0
      ? []
      : [`${whole(agreement.unmatchedInteractions)} interactions are labelled by one of them alone and not compared`]),
    '',
    pairTable(table),
    '',
    `${whole(agreement.pairs)} pairs, the same on ${percent(agreement.same)}, Cohen's kappa ${kappaText(agreement.kappa)}`,
  ]
  if (agreement.byDomain.length > 0) {
    const domains = createResultTable(['domain', '>runs', '>pairs', '>same', '>kappa'])
    for (const domain of agreement.byDomain)
      domains.push([
        domain.name,
        whole(domain.runs),
        whole(domain.pairs),
        percent(domain.same),
        kappaText(domain.kappa),
      ])
    lines.push('', domains.toString())
  }
  lines.push(
    '',
    'boundaries of interactions that are targets:',
    `  KEEP throughout for both ${whole(boundaries.bothNever)}, READY for A alone ${whole(boundaries.onlyA)}, for B alone ${whole(boundaries.onlyB)}`,
    `  READY for both: B equal ${whole(boundaries.equal)}, earlier ${whole(boundaries.earlier)}, later ${whole(boundaries.later)}${spread(boundaries.differences)}`,
  )
  const listed = agreement.disagreements.slice(0, given.worst)
  if (listed.length > 0) {
    const worst = createResultTable(['>checkpoints', 'run', '>interaction', 'A', 'B'])
    for (const one of listed)
      worst.push([one.pairs, one.trajectory, one.interaction, verdict(one.boundaryA), verdict(one.boundaryB)])
    const [first] = listed
    lines.push(
      '',
      `largest of ${whole(agreement.disagreements.length)} disagreements:`,
      worst.toString(),
      `look at one: keepready labels show ${quoted(first?.trajectory ?? '')} --runs ${given.runsPath} --labels ${given.pathA} --interaction ${first?.interaction}`,
    )
  }
  return lines.join('\n')
}

function pairTable({ bothReady, onlyA, onlyB, bothKeep }: LabelAgreement['table']): string {
  const table = createResultTable(['pairs', '>B READY', '>B KEEP'])
  table.push(['A READY', whole(bothReady), whole(onlyA)], ['A KEEP', whole(onlyB), whole(bothKeep)])
  return table.toString()
}

/** 10 %, median and 90 % of b_B - b_A. */
function spread(differences: LabelAgreement['boundaries']['differences']): string {
  const total = differences.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return ''
  const at = (share: number): number => {
    let seen = 0
    for (const [difference, count] of differences) {
      seen += count
      if (seen >= share * total) return difference
    }
    return 0
  }
  return `; B minus A at 10/50/90 %: ${[0.1, 0.5, 0.9].map((share) => signed(at(share))).join(' / ')}`
}

function only(name: string, ids: readonly string[]): string {
  return ids.length === 0
    ? ''
    : `, ${whole(ids.length)} in ${name} alone (${ids.slice(0, 3).join(', ')}${ids.length > 3 ? ', ...' : ''})`
}

function verdict(boundary: number | null): string {
  return boundary === null ? 'KEEP' : `READY from ${boundary}`
}

function kappaText(kappa: number | null): string {
  return kappa === null ? 'undefined (one class alone)' : kappa.toFixed(3)
}

function percent(share: number | null): string {
  return share === null ? '-' : `${(100 * share).toFixed(1)} %`
}

function signed(value: number): string {
  return value > 0 ? `+${value}` : String(value)
}

function whole(value: number): string {
  return value.toLocaleString('en-US')
}

/** Ids come from logs: what the shell would read otherwise than written is put in quotes. */
function quoted(word: string): string {
  return /^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/**
 * keepready annotate --annotator lineage: the rule, no language model.
 */
import type { LabelRow } from '../../data/annotate/label-record.ts'
import { labelStats, prevalence } from '../../data/annotate/label-stats.ts'
import { annotateLineage, type LineageOptions, lineageName } from '../../data/annotate/lineage.ts'
import { matchLabels } from '../../data/annotate/match-labels.ts'
import { writeLabels } from '../../data/store/labels.ts'
import { readRuns } from '../../data/store/runs.ts'
import type { CommandContext, CommandResult } from './command-context.ts'
import { startProgress } from './progress.ts'

export async function annotateByLineage(
  context: CommandContext,
  job: { readonly runsPath: string; readonly out: string; readonly lineage: LineageOptions },
): Promise<CommandResult> {
  const { runsPath, out, lineage } = job
  const trajectories = await readRuns(runsPath)
  const progress = startProgress(context, { stage: 'annotate', total: trajectories.length, unit: 'runs' })
  const rows: LabelRow[] = []
  for (const trajectory of trajectories) {
    rows.push(annotateLineage(trajectory, lineage))
    progress.update(rows.length)
    // Lets Ctrl-C through: annotating a run is one synchronous pass.
    await new Promise((resolve) => setImmediate(resolve))
    context.signal.throwIfAborted()
  }
  await writeLabels(out, rows)
  const stats = labelStats(matchLabels(trajectories, rows))
  const ready = `${stats.all.pairs.toLocaleString('en-US')} pairs, ${(100 * prevalence(stats.all)).toFixed(1)} % READY`
  progress.done(`${rows.length} runs, ${ready}`)
  return {
    data: { annotator: lineageName(lineage), out, runs: rows.length, ...stats.all },
    text: `wrote ${out}: ${rows.length} runs, ${ready}; look at it with: keepready labels stats ${runsPath} ${out}`,
  }
}

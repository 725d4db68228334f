/** keepready demo: the whole path on sample logs, offline. */
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { capsText } from '../demo/demo-caps.ts'
import { type DemoResult, runDemo } from '../demo/run-demo.ts'
import { invocationOf } from '../invocation.ts'
import { createResultTable } from '../result-table.ts'
import { withAction } from '../run-action.ts'
import { percent } from '../score-table.ts'
import { wholeNumberParser } from '../whole-number.ts'

interface DemoOptions {
  readonly out: string
  readonly fresh: boolean
  readonly seed: number
}

export function createCommand(): Command {
  const command = new Command('demo')
    .summary('the whole path on sample logs, offline, in a few minutes')
    .description(
      'Imports licensed sample logs, labels them, extracts hidden states with the embedded model, trains and evaluates a\n' +
        'router, and asks a server about a long history that no training part saw. Run again: finished stages are reused.',
    )
    .option('--out <directory>', 'where everything is written', 'keepready-demo')
    .option('--fresh', 'remove that directory first', false)
    .addOption(
      new Option('--seed <number>', 'of every stage that draws at random').argParser(wholeNumberParser(0)).default(1),
    )
    .addHelpText('after', '\nExample:\n  $ keepready demo --fresh')
  return withAction<DemoOptions>(command, async (context, options) => {
    context.writeErr(`${capsText()}\n`)
    const startMs = context.nowMs()
    const result = await runDemo(context, options)
    const seconds = (context.nowMs() - startMs) / 1000
    const peakRssBytes = process.resourceUsage().maxRSS * 1024
    return {
      data: { ...result, served: servedData(result), seconds, peak_rss_bytes: peakRssBytes },
      text: demoText(result, { seconds, peakRssBytes }),
    }
  })
}

function servedData({ served }: DemoResult): unknown {
  return served.points.map(({ label, score, compaction }) => ({
    label,
    operating_point: score.operating_point,
    tau: score.tau,
    ready: score.interactions.filter((item) => item.ready).length,
    outcome: compaction.outcome,
    reason: compaction.reason ?? null,
    tokens: compaction.tokens,
  }))
}

function demoText(result: DemoResult, cost: { readonly seconds: number; readonly peakRssBytes: number }): string {
  const { out } = result
  const self = invocationOf(process.argv[1], process.cwd())
  return [
    '',
    ...result.summary,
    '',
    servedText(result),
    '',
    `Written (${cost.seconds.toFixed(0)} s, peak memory ${(cost.peakRssBytes / 2 ** 20).toFixed(0)} MiB):`,
    `  ${join(out, 'runs.jsonl')} and ${join(out, 'labels.jsonl')}   ${result.runs} runs and their labels`,
    `  ${join(out, 'dataset')}   hidden states and pairs`,
    `  ${join(out, 'router')}   the router artefact`,
    `  ${join(out, 'report', 'index.html')} and ${join(out, 'report', 'metrics.json')}   the evaluation`,
    'Next:',
    `  ${self} labels stats ${join(out, 'runs.jsonl')} ${join(out, 'labels.jsonl')}`,
    `  ${self} serve --router ${join(out, 'router')}`,
    `  ${self} import YOUR_LOGS --out runs.jsonl`,
  ].join('\n')
}

function servedText({ served }: DemoResult): string {
  const table = createResultTable([
    'operating point',
    '>tau',
    '>READY',
    '>spans replaced',
    'outcome',
    '>tokens before',
    '>after',
    '>change',
  ])
  for (const { label, score, compaction } of served.points) {
    const { before, after } = compaction.tokens
    table.push([
      label,
      score.tau === null ? 'none' : score.tau.toFixed(3),
      `${score.interactions.filter((item) => item.ready).length} of ${score.interactions.length}`,
      compaction.outcome === 'applied' ? compaction.spans.filter((span) => span.accepted).length : 0,
      compaction.reason === undefined ? compaction.outcome : `${compaction.outcome} (${compaction.reason})`,
      before.toLocaleString('en-US'),
      after.toLocaleString('en-US'),
      percent(before, after),
    ])
  }
  const warnings = new Set(served.points.flatMap(({ score }) => score.warnings))
  return [
    'One Claude Code session that no training part saw, served and compacted (tokens: o200k estimate):',
    table.toString(),
    ...warnings,
  ].join('\n')
}

/**
 * npm run results: measures everything docs/results.md says, on the real logs of ../shared, and writes its tables.
 *   npm run results -- [--only NAME ...] [--work DIRECTORY] [--seed N] [--no-page]
 * About two hours on two cores; stop it at any time, the same command goes on where it was.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readRuns, writeRuns } from '../../data/store/runs.ts'
import { packageFile } from '../../models/package-root.ts'
import type { EvaluationRecord } from '../../training/evaluation/evaluation-record.ts'
import { COMPARISONS, EXPERIMENTS, type Experiment, RUN_SETS, type RunSetName } from './experiments.ts'
import { insertTables } from './insert-tables.ts'
import { runStage, type Stage } from './stages.ts'
import { countsSentence, domainTable, headlineTable, operatingPointTable } from './tables.ts'

const SMOLLM2 = join(homedir(), '.cache', 'keepready', 'smollm2-135m-instruct')

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    work: { type: 'string', default: 'keepready-results' },
    seed: { type: 'string', default: '1' },
    'no-page': { type: 'boolean', default: false },
  },
})
const work = resolve(values.work)
const shared = resolve(process.env.KEEPREADY_SHARED || packageFile('..', 'shared'))
const path = (...names: readonly string[]): string => join(work, ...names)

async function main(): Promise<void> {
  const logs = join(shared, 'trajectories')
  if (!existsSync(logs))
    throw new Error(`${logs} is not there: set KEEPREADY_SHARED to the folder that holds trajectories/`)
  mkdirSync(work, { recursive: true })
  const wanted = EXPERIMENTS.filter(({ name }) => values.only?.includes(name) ?? true)
  await stage({
    name: 'import',
    args: ['import', logs, '--out', path('all.jsonl')],
    inputs: [],
    output: 'all.jsonl',
    codes: [0, 1],
  })
  for (const set of new Set(wanted.map(({ runs }) => runs))) await prepareRuns(set)
  const tables: Record<string, string> = {}
  for (const experiment of wanted) {
    await measure(experiment)
    const record = JSON.parse(readFileSync(path(experiment.name, 'report', 'metrics.json'), 'utf8')) as EvaluationRecord
    tables[experiment.name] = [describe(experiment), countsSentence(record), headlineTable(record)].join('\n\n')
    tables[`${experiment.name}-domains`] = domainTable(record)
    tables[`${experiment.name}-points`] = operatingPointTable(record)
  }
  for (const { name, of } of COMPARISONS) {
    if (!of.every((one) => wanted.some((experiment) => experiment.name === one))) continue
    const reports = of.map((one) => path(one, 'report'))
    await stage({
      name: `compare ${name}`,
      args: ['compare', ...reports, '--out', path('compare', name)],
      inputs: reports.map((report) => join(report, 'metrics.json')),
      output: join('compare', name, 'index.html'),
    })
  }
  if (!values['no-page']) writePage(tables)
}

async function prepareRuns(set: RunSetName): Promise<void> {
  const runs = path(`${set}.jsonl`)
  if (set !== 'all' && !existsSync(runs)) {
    const all = await readRuns(path('all.jsonl'))
    await writeRuns(runs, all.filter(RUN_SETS[set].keep))
  }
  const labels = path(`${set}-labels.jsonl`)
  await stage({
    name: `annotate ${set}`,
    args: ['annotate', runs, '--out', labels],
    inputs: [runs],
    output: `${set}-labels.jsonl`,
  })
}

async function measure(experiment: Experiment): Promise<void> {
  const { name, runs, model, layer, recipe, window, viewBudget, checkpoints, width } = experiment
  const [dataset, router, report] = [path(name, 'dataset'), path(name, 'router'), path(name, 'report')]
  mkdirSync(path(name), { recursive: true })
  const source = path(`${runs}.jsonl`)
  const labels = path(`${runs}-labels.jsonl`)
  const manifest = join(dataset, 'manifest.json')
  await stage({
    name: `extract ${name}`,
    args: [
      ...['extract', source, '--labels', labels, '--out', dataset],
      ...['--model', model === 'tiny' ? 'tiny' : SMOLLM2, '--layer', String(layer ?? 'default')],
      ...['--recipe', recipe, '--recent-window', window, '--view-budget', String(viewBudget)],
      ...['--max-checkpoints-per-run', String(checkpoints), '--seed', values.seed],
    ],
    inputs: [source, labels],
    output: join(name, 'dataset', 'manifest.json'),
  })
  await stage({
    name: `train ${name}`,
    args: ['train', dataset, '--out', router, '--width', String(width), '--seed', values.seed],
    inputs: [manifest],
    output: join(name, 'router', 'router.json'),
  })
  await stage({
    name: `evaluate ${name}`,
    args: ['evaluate', dataset, '--router', router, '--out', report, '--seed', values.seed],
    inputs: [manifest, join(router, 'router.json')],
    output: join(name, 'report', 'metrics.json'),
  })
}

async function stage(one: Stage): Promise<void> {
  const seconds = await runStage(work, one)
  process.stderr.write(`== ${one.name}: ${seconds === null ? 'done already' : `took ${Math.round(seconds)} s`}\n`)
}

function describe({ runs, model, layer, recipe, window, viewBudget, checkpoints, width }: Experiment): string {
  const name = model === 'tiny' ? 'the embedded model' : 'SmolLM2-135M'
  const depth = layer === null ? 'two thirds of its depth' : `layer ${layer}`
  const shape = window === 'fixed' ? recipe : `${recipe} with a ${window} window`
  return (
    `Runs: ${RUN_SETS[runs].what}. Read by ${name} at ${depth}, recipe ${shape}. Caps: views of at most ` +
    `${viewBudget.toLocaleString('en-US')} tokens, ${checkpoints} checkpoints a run, width ${width}, seed ${values.seed}.`
  )
}

/** Tables without a place in the page stay in the work folder only. */
function writePage(tables: Readonly<Record<string, string>>): void {
  const page = packageFile('docs', 'results.md')
  const text = readFileSync(page, 'utf8')
  const placed = Object.fromEntries(
    Object.entries(tables).filter(([name]) => text.includes(`<!-- results:${name} -->`)),
  )
  writeFileSync(page, insertTables(text, placed))
  for (const [name, table] of Object.entries(tables)) writeFileSync(path(`${name}.md`), `${table}\n`)
  process.stderr.write(
    `\n${Object.keys(placed).length} tables of docs/results.md written, all of them in ${work}/*.md\n`,
  )
}

await main()

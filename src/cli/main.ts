/**
 * Entry of the keepready command: finds the command's file, loads only that one, and runs it.
 */
import { Command } from 'commander'
import { AppError, EXIT_CODE } from '../errors.ts'
import { packageVersion } from './package-version.ts'
import { reportUsageError } from './usage-error.ts'

interface CommandModule {
  readonly createCommand: () => Command
}

/** In the order of the data flow: the order of --help. */
const COMMANDS: Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<CommandModule> }>> = {
  demo: {
    summary: 'the whole path on sample logs, offline, in a few minutes',
    load: () => import('./commands/demo.ts'),
  },
  import: { summary: 'agent logs -> runs.jsonl', load: () => import('./commands/import.ts') },
  annotate: { summary: 'runs.jsonl -> labels.jsonl', load: () => import('./commands/annotate.ts') },
  labels: { summary: 'look at labels, correct them, compare them', load: () => import('./commands/labels.ts') },
  inspect: { summary: 'what runs, labels, datasets and routers hold', load: () => import('./commands/inspect.ts') },
  extract: { summary: 'runs + labels -> dataset of hidden states', load: () => import('./commands/extract.ts') },
  train: { summary: 'dataset -> router artefact', load: () => import('./commands/train.ts') },
  sweep: {
    summary: 'datasets -> the configuration that validation prefers',
    load: () => import('./commands/sweep.ts'),
  },
  study: {
    summary: 'dataset -> how quality depends on data, domain or seed',
    load: () => import('./commands/study.ts'),
  },
  evaluate: {
    summary: 'dataset + router -> metrics.json and an HTML report',
    load: () => import('./commands/evaluate.ts'),
  },
  compare: {
    summary: 'evaluated runs -> paired differences and an HTML page',
    load: () => import('./commands/compare.ts'),
  },
  router: { summary: 'check a router artefact, export it', load: () => import('./commands/router.ts') },
  serve: { summary: 'HTTP server: score, plan, compact, validate', load: () => import('./commands/serve.ts') },
  score: { summary: 'readiness of each interaction of one history', load: () => import('./commands/score.ts') },
  plan: { summary: 'which spans of one history would be replaced', load: () => import('./commands/plan.ts') },
  compact: { summary: 'one history -> a shorter valid history', load: () => import('./commands/compact.ts') },
  validate: { summary: "one history against its provider's rules", load: () => import('./commands/validate.ts') },
  convert: { summary: "one history in another provider's format", load: () => import('./commands/convert.ts') },
  cases: { summary: 'inputs with the right behaviour written beside them', load: () => import('./commands/cases.ts') },
  devices: { summary: 'what this machine can run a model on', load: () => import('./commands/devices.ts') },
  models: { summary: 'get models, look at them, check them', load: () => import('./commands/models.ts') },
  bench: { summary: 'latency and memory of extraction, as ratios', load: () => import('./commands/bench.ts') },
}

export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('keepready')
    .description('Tells a long-running LLM agent which of its past interactions no longer need to stay in full.')
    .version(packageVersion())
    .configureOutput({
      outputError: (text, writeErr) =>
        reportUsageError(text, {
          json: argv.includes('--json'),
          writeOut: (line) => process.stdout.write(line),
          writeErr,
        }),
    })
    .exitOverride((exit) => {
      process.exit(exit.exitCode === 0 ? 0 : EXIT_CODE.input)
    })
    .addHelpText('after', '\nExample:\n  $ keepready demo\n\nEach command teaches itself: keepready COMMAND --help')
  const words = argv.filter((word) => !word.startsWith('-'))
  const wanted = words[0] === 'help' ? words[1] : words[0]
  for (const [name, entry] of Object.entries(COMMANDS)) {
    if (name === wanted) {
      const command = (await entry.load()).createCommand()
      if (command.name() !== name) throw new AppError('invariant', `command file of ${name} defines ${command.name()}`)
      program.addCommand(inheritSettings(command, program))
    } else program.command(name).summary(entry.summary).description(entry.summary)
  }
  await program.parseAsync([...argv], { from: 'user' })
}

/** A subcommand (`labels stats`) answers wrong usage like its parents: same help, same exit code. */
function inheritSettings(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent)
  for (const child of command.commands) inheritSettings(child, command)
  return command
}

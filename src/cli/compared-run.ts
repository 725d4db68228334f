/**
 * An argument of `keepready compare` as a run: `[NAME=]REPORT` or `[NAME=]DATASET,ROUTER[,INPUTS]`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readDataset } from '../../data/store/read-dataset.ts'
import type { RouterManifest } from '../../models/router/manifest.ts'
import { INPUT_KINDS, type InputKind } from '../../models/router/spec.ts'
import type { ComparedRun } from '../../training/compare/compared-run.ts'
import { parseReportSource } from '../../training/compare/report-source.schema.ts'
import { readRouterPredictions } from '../../training/evaluation/router-predictions.ts'
import { AppError } from '../errors.ts'

export interface RunArgument {
  readonly name: string
  readonly dataset: string
  readonly router: string
  readonly inputs: InputKind | null
}

/** Names are those given, else the last part of the report's or the router's path; all must differ. */
export function parseRunArguments(texts: readonly string[]): readonly RunArgument[] {
  const runs = texts.map(parseRunArgument)
  const twice = runs.find(({ name }, at) => runs.findIndex((run) => run.name === name) !== at)
  if (twice !== undefined)
    throw new AppError(
      'option-invalid',
      `two runs are called ${twice.name}: name them, e.g. ${texts.map((text, at) => `${'abcdefgh'[at] ?? `run${at}`}=${text.replace(/^[^=,]*=/, '')}`).join(' ')}`,
    )
  return runs
}

function parseRunArgument(text: string): RunArgument {
  const named = /^([^=,/]+)=(.+)$/.exec(text)
  const parts = (named?.[2] ?? text).split(',')
  const [first = '', second, inputs, ...rest] = parts
  if (rest.length > 0 || parts.some((part) => part === ''))
    throw new AppError('option-invalid', `${text} is neither [NAME=]REPORT nor [NAME=]DATASET,ROUTER[,INPUTS]`)
  if (second === undefined) {
    const path = join(first, 'metrics.json')
    if (!existsSync(path))
      throw new AppError(
        'file-not-found',
        `${path} is not there: give a folder that keepready evaluate --out wrote, or DATASET,ROUTER`,
      )
    const source = parseReportSource(path, readFileSync(path, 'utf8'))
    return { name: named?.[1] ?? basename(first), ...source, inputs: null }
  }
  return { name: named?.[1] ?? basename(second), dataset: first, router: second, inputs: inputKindOf(text, inputs) }
}

function inputKindOf(text: string, inputs: string | undefined): InputKind | null {
  if (inputs === undefined) return null
  const kind = INPUT_KINDS.find((one) => one === inputs)
  if (kind === undefined)
    throw new AppError('option-invalid', `${inputs} in ${text} is no kind of input: ${INPUT_KINDS.join(', ')}`)
  return kind
}

/** @throws what readDataset and readRouterPredictions throw */
export async function readComparedRun({ name, dataset: directory, router, inputs }: RunArgument): Promise<ComparedRun> {
  const dataset = await readDataset(directory)
  const { manifest, parts, predictions } = readRouterPredictions(router, dataset)
  return { name, dataset, router, parts, predictions, inputs, settings: settingsOf(manifest, dataset.manifest) }
}

/** Everything that may differ, as words; the page shows what does. */
function settingsOf(
  { representation, config, topK, engine, source }: RouterManifest,
  { maxCheckpointsPerRun, seed }: { readonly maxCheckpointsPerRun: number; readonly seed: number },
): Readonly<Record<string, string>> {
  const { model, layer, storageDtype, quantize, precision, recipe } = representation
  const settings = {
    model: model.name,
    layer,
    recipe: recipe.name,
    K_ctx: recipe.recentInteractions,
    window: recipe.window,
    'view budget, tokens': recipe.budgets.view,
    'storage dtype': storageDtype,
    weights: quantize ?? 'as stored',
    precision: precision ?? 'f32',
    'checkpoints per run': maxCheckpointsPerRun,
    'dataset seed': seed,
    'top k': topK,
    width: config.width,
    dropout: config.dropout,
    'epochs, patience': `${config.epochs}, ${config.patience}`,
    'learning rate': config.learningRate,
    decay: config.decay,
    'positive weight': config.positiveWeight,
    'hidden scale': config.hiddenScale,
    'training seed': config.seed,
    engine: engine.backend,
    code: source,
  }
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, String(value)]))
}

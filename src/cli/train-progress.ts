/**
 * The live line of a training: samples per second, time left, loss, and what validation said last.
 */
import type { TrainRequest } from '../../training/train.ts'
import type { CommandContext } from './command-context.ts'
import { type Progress, startProgress } from './progress.ts'

type HookName = 'onPlan' | 'onStep' | 'onEpoch' | 'onJob'

export interface TrainProgress {
  readonly hooks: { readonly [Name in HookName]: NonNullable<TrainRequest[Name]> }
  /** Replaces the line by its final form. */
  done(figure: string): void
}

export function startTrainProgress(context: CommandContext): TrainProgress {
  let progress: Progress | null = null
  let [pairsDone, pairsPlanned] = [0, 0]
  let epochNote = ''
  return {
    hooks: {
      onPlan({ jobs, pairs, finishedJobs, finishedEpochs }) {
        if (finishedJobs + finishedEpochs > 0)
          context.writeErr(
            `train: goes on with ${finishedJobs} of ${jobs} models finished and ${finishedEpochs} epochs of others (--fresh starts over)\n`,
          )
        pairsPlanned = pairs
      },
      onStep(pairs, lossNats) {
        // Processes start and read the data first: the rate is that of steps.
        progress ??= startProgress(context, { stage: 'train', total: pairsPlanned, unit: 'samples' })
        pairsDone += pairs
        progress.update(pairsDone, `loss ${lossNats.toFixed(3)}${epochNote}`)
      },
      onEpoch(job, { epoch, validationPrAuc }) {
        const prAuc = validationPrAuc === null ? '-' : validationPrAuc.toFixed(3)
        const model = job.rotation === 'final' ? 'final model' : `rotation ${job.rotation}`
        epochNote = `, ${job.inputs} ${model} epoch ${epoch}: validation PR-AUC ${prAuc}`
      },
      onJob(_, pairsLeftOut) {
        pairsPlanned -= pairsLeftOut
        progress?.retarget(pairsPlanned)
      },
    },
    done(figure) {
      progress ??= startProgress(context, { stage: 'train', total: pairsPlanned, unit: 'samples' })
      progress.done(figure)
    },
  }
}

import { describe, expect, it } from 'vitest'
import type { CommandContext } from '../../../src/cli/command-context.ts'
import { startTrainProgress } from '../../../src/cli/train-progress.ts'
import type { TrainJob } from '../../../training/train-rotation.ts'

const JOB = { inputs: 'hidden', rotation: 2 } as TrainJob

function terminal() {
  let nowMs = 0
  const lines: string[] = []
  const context: CommandContext = {
    writeOut: () => undefined,
    writeErr: (text) => void lines.push(text),
    signal: new AbortController().signal,
    nowMs: () => nowMs,
    interactive: false,
  }
  const wait = (ms: number): void => {
    nowMs += ms
  }
  return { context, lines, wait }
}

describe('startTrainProgress', () => {
  it('shows rate, time left, loss and the last validation score', () => {
    const { context, lines, wait } = terminal()
    const { hooks, done } = startTrainProgress(context)
    hooks.onPlan({ jobs: 6, pairs: 10_000, finishedJobs: 0, finishedEpochs: 0 })
    wait(60_000)
    hooks.onStep(0, 0.7)
    wait(6000)
    hooks.onStep(1200, 0.5)
    hooks.onEpoch(JOB, { epoch: 3, trainLossNats: 0.4, validationLossNats: 0.6, validationPrAuc: 0.71 })
    wait(6000)
    hooks.onStep(1200, 0.25)
    done('6 models')
    expect(lines).toEqual([
      'train: 1,200/10,000 samples, 200/s, 44 s left, loss 0.500\n',
      'train: 2,400/10,000 samples, 200/s, 38 s left, loss 0.250, hidden rotation 2 epoch 3: validation PR-AUC 0.710\n',
      'train: 6 models (12.0 s)\n',
    ])
  })

  it('counts only what is left, and less when a model stops early', () => {
    const { context, lines, wait } = terminal()
    const { hooks } = startTrainProgress(context)
    hooks.onPlan({ jobs: 6, pairs: 10_000, finishedJobs: 2, finishedEpochs: 5 })
    hooks.onJob({ ...JOB, rotation: 'final' }, 4000)
    hooks.onStep(0, 0.7)
    wait(6000)
    hooks.onStep(600, 0.5)
    expect(lines).toEqual([
      'train: goes on with 2 of 6 models finished and 5 epochs of others (--fresh starts over)\n',
      'train: 600/6,000 samples, 100/s, 54 s left, loss 0.500\n',
    ])
  })
})

/**
 * What the demo caps to keep its time: printed at its start. The real defaults stand beside each figure.
 */
import { DEFAULT_MAX_CHECKPOINTS_PER_RUN } from '../../../training/choose-checkpoints.ts'
import { DEFAULT_TRAIN_CONFIG } from '../../../training/train-config.ts'
import { DEFAULT_BUDGETS } from '../../view/recipe.ts'

export const DEMO_CAPS = {
  viewBudget: 1024,
  maxCheckpointsPerRun: 12,
  width: 256,
  bootstrap: 500,
} as const

export function capsText(): string {
  const { viewBudget, maxCheckpointsPerRun, width } = DEMO_CAPS
  return (
    `caps of this demo: views of at most ${viewBudget} tokens (default ${DEFAULT_BUDGETS.view}), ` +
    `${maxCheckpointsPerRun} checkpoints a run (default ${DEFAULT_MAX_CHECKPOINTS_PER_RUN}), ` +
    `${width} hidden units (default ${DEFAULT_TRAIN_CONFIG.width})`
  )
}

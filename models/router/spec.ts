/**
 * The router's shape: which input blocks, how wide, how initialised. Shared by trainer and server.
 *   d = hidden size of the frozen LM, H = hidden width of the MLP, X = number of evidence features
 */
export type BlockName = 'h' | 'q' | 'm' | 'x'

export type InputKind = 'hidden' | 'hidden+evidence' | 'evidence'
export const INPUT_KINDS = ['hidden', 'hidden+evidence', 'evidence'] as const satisfies readonly InputKind[]

export const INPUT_BLOCKS = {
  hidden: ['h', 'q', 'm'],
  'hidden+evidence': ['h', 'q', 'm', 'x'],
  evidence: ['x'],
} as const satisfies Record<InputKind, readonly BlockName[]>

export interface RouterSpec {
  readonly inputs: InputKind
  /** d; 0 when inputs = evidence. */
  readonly hiddenSize: number
  /** X; 0 when inputs = hidden. */
  readonly evidenceSize: number
  /** H >= 1; 0 = logistic regression on the blocks. */
  readonly width: number
  /** Share of hidden units dropped in training (paper: 0.3). Not used in scoring. */
  readonly dropout: number
}

/**
 * logit = w2 . relu(sum over blocks W_block x_block + b1) + b2  (width 0: logit = sum w_block x_block + b2)
 * All float32. weights[block] is (block size, H) row-major, i.e. input-major: z[j] = sum_k x[k] * W[k * H + j].
 */
export interface RouterParameters {
  readonly weights: Readonly<Partial<Record<BlockName, Float32Array>>>
  readonly b1: Float32Array
  readonly w2: Float32Array
  readonly b2: Float32Array
}

export function blockSize(spec: RouterSpec, block: BlockName): number {
  return block === 'x' ? spec.evidenceSize : spec.hiddenSize
}

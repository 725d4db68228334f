/**
 * GGUF -> a Hugging Face checkpoint directory: model.safetensors, config.json, tokenizer.json, tokenizer_config.json. One
 * tensor at a time, at most a few MB of it in memory. The directory appears by one rename when all of it is written.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { AppError } from '../../src/errors.ts'
import { decodeBf16, decodeF16, encodeBf16, encodeF16 } from '../../src/tensor/half.ts'
import { noRoomFor } from '../safetensors.ts'
import { streamSafetensors } from '../safetensors-stream.ts'
import { ROPE_FACTORS } from './architectures.ts'
import { describeGgufModel, type GgufModel } from './config.ts'
import { convertTensor, decodeTensor } from './convert-tensor.ts'
import { readMetadata } from './metadata.ts'
import { type GgufFiles, openGguf } from './open-gguf.ts'
import { chooseDtype, planTensors, type TargetDtype, type TensorPlan } from './plan-tensors.ts'
import { describeGgufTokenizer } from './tokenizer.ts'

export interface ConvertGgufOptions {
  readonly file: string
  /** Must not exist, or be empty. */
  readonly out: string
  /** Of the matrices; null: `chooseDtype`. Vectors are F32 where they would lose digits. */
  readonly dtype: TargetDtype | null
  /** A tokenizer.json to use instead of the file's own tokenizer. */
  readonly tokenizerFile: string | null
  readonly signal?: AbortSignal
  readonly onProgress?: (done: { readonly bytes: number; readonly totalBytes: number }) => void
}

export interface ConvertedGguf {
  readonly directory: string
  readonly architecture: string
  readonly dtype: TargetDtype
  readonly tensorCount: number
  readonly weightBytes: number
  /** Encoding -> tensors of the file that have it. */
  readonly encodings: Readonly<Record<string, number>>
}

/**
 * @throws file-not-found, file-unreadable, gguf-invalid, gguf-unsupported, architecture-unsupported, weights-not-finite,
 * option-invalid, disk-full, and the signal's reason
 */
export async function convertGguf(options: ConvertGgufOptions): Promise<ConvertedGguf> {
  const out = resolve(options.out)
  if (existsSync(out) && readdirSync(out).length > 0)
    throw new AppError('option-invalid', `${out} is there and not empty: give --out a new directory`)
  const files = await openGguf(options.file)
  try {
    const model = describeModel(options.file, files)
    const dtype = options.dtype ?? chooseDtype(files.tensors.values())
    const texts = describeTexts(options, { files, model, dtype })
    const plans = planTensors({ file: options.file, model, tensors: files.tensors, dtype }).map(keepVectorExact)
    mkdirSync(dirname(out), { recursive: true })
    const staged = join(dirname(out), `.${basename(out)}.part-${process.pid}`)
    try {
      rmSync(staged, { recursive: true, force: true })
      mkdirSync(staged)
      const weightBytes = writeWeights(join(staged, 'model.safetensors'), plans, options)
      for (const [name, value] of Object.entries(texts)) writeText(join(staged, name), value)
      if (options.tokenizerFile !== null) copyFileSync(options.tokenizerFile, join(staged, 'tokenizer.json'))
      renameSync(staged, out)
      return {
        directory: out,
        architecture: model.architecture.hfArchitecture,
        dtype,
        tensorCount: plans.length,
        weightBytes,
        encodings: countEncodings(files),
      }
    } finally {
      rmSync(staged, { recursive: true, force: true })
    }
  } finally {
    files.close()
  }
}

function describeModel(file: string, files: GgufFiles): GgufModel {
  const metadata = readMetadata(file, files.metadata)
  const embedding = files.tensors.get('token_embd.weight')
  if (embedding === undefined) throw metadata.refuse('it holds no token_embd.weight: it is no language model')
  const factors = files.tensors.get(ROPE_FACTORS)
  const read = factors === undefined || factors.sizeBytes > 1 << 16 ? null : wholeVector(ROPE_FACTORS, factors)
  return describeGgufModel(metadata, {
    names: new Set(files.tensors.keys()),
    vocabularySize: embedding.shape[0] ?? 0,
    ropeFactors: factors === undefined ? null : (read ?? new Float32Array(0)),
  })
}

function describeTexts(
  options: ConvertGgufOptions,
  of: { readonly files: GgufFiles; readonly model: GgufModel; readonly dtype: TargetDtype },
): Readonly<Record<string, unknown>> {
  const { files, model, dtype } = of
  const torchDtype = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' }[dtype]
  const config = { ...model.config, torch_dtype: torchDtype }
  if (options.tokenizerFile !== null) return { 'config.json': config }
  const vocabularySize = Number(model.config.vocab_size)
  const { tokenizerJson, tokenizerConfig } = describeGgufTokenizer(
    readMetadata(options.file, files.metadata),
    vocabularySize,
  )
  return { 'config.json': config, 'tokenizer.json': tokenizerJson, 'tokenizer_config.json': tokenizerConfig }
}

/** Norms and biases are stored in F32: where the half type would round one of them, the vector stays F32. */
function keepVectorExact(plan: TensorPlan): TensorPlan {
  if (plan.tensor.shape.length > 1 || plan.dtype === 'F32') return plan
  const weights = wholeVector(plan.ggufName, plan.tensor)
  return halfKeeps(weights, plan.dtype) ? plan : { ...plan, dtype: 'F32' }
}

function halfKeeps(weights: Float32Array, dtype: 'F16' | 'BF16'): boolean {
  const largest = weights.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  if (largest > (dtype === 'F16' ? 65504 : 3e38)) return false
  const kept = dtype === 'F16' ? decodeF16(encodeF16(weights)) : decodeBf16(encodeBf16(weights))
  return kept.every((value, i) => value === weights[i])
}

function wholeVector(ggufName: string, tensor: TensorPlan['tensor']): Float32Array {
  const [weights] = decodeTensor({ ggufName, tensor, interleavedHeads: null, rowsAtOnce: tensor.shape[0] ?? 1 })
  return weights ?? new Float32Array(0)
}

function writeWeights(path: string, plans: readonly TensorPlan[], options: ConvertGgufOptions): number {
  const planned = plans.map(({ name, dtype, tensor }) => ({ name, dtype, shape: tensor.shape }))
  const stream = streamSafetensors(path, planned, { format: 'pt' })
  const totalBytes = plans.reduce((sum, plan) => sum + plan.tensor.sizeBytes, 0)
  let read = 0
  let written = 0
  try {
    for (const plan of plans) {
      for (const bytes of convertTensor(plan)) {
        options.signal?.throwIfAborted()
        stream.write(bytes)
        written += bytes.length
      }
      read += plan.tensor.sizeBytes
      options.onProgress?.({ bytes: read, totalBytes })
    }
    stream.finish()
    return written
  } finally {
    stream.close()
  }
}

function writeText(path: string, value: unknown): void {
  try {
    writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
  } catch (cause) {
    throw noRoomFor(path, cause)
  }
}

function countEncodings(files: GgufFiles): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { type } of files.tensors.values()) counts[type.name] = (counts[type.name] ?? 0) + 1
  return counts
}

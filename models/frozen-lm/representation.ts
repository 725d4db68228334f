/**
 * A representation is everything that decides a hidden vector's value: model files, layer, recipe, storage dtype.
 * Its id is pinned by datasets and router artefacts; another id is refused.
 */
import { createHash } from 'node:crypto'
import { RECIPE_VERSION, type Recipe } from '../../src/view/recipe.ts'

/** Raised only when golden hidden states change. */
export const GRAPH_VERSION = 1

export type StorageDtype = 'f16' | 'f32'

export interface Representation {
  readonly model: {
    /** Directory name, for people. Not part of the id. */
    readonly name: string
    readonly architecture: string
    readonly hiddenSize: number
    /** SHA-256 over config.json, tokenizer.json, tokenizer_config.json and the weight files, in name order. */
    readonly filesSha256: string
  }
  readonly layer: number
  readonly storageDtype: StorageDtype
  /** Matrices as integers; absent where the model computes in float32. */
  readonly quantize?: 'int8' | undefined
  /** Linear maps, keys and values in float16; absent where they are float32. */
  readonly precision?: 'f16' | undefined
  readonly recipe: Recipe
  readonly graphVersion: number
  readonly recipeVersion: number
}

export function createRepresentation(parts: Omit<Representation, 'graphVersion' | 'recipeVersion'>): Representation {
  return { ...parts, graphVersion: GRAPH_VERSION, recipeVersion: RECIPE_VERSION }
}

/** 16 hex digits; equal exactly when every value that decides a vector is equal. */
export function representationId(representation: Representation): string {
  const { model, layer, storageDtype, quantize, precision, recipe, graphVersion, recipeVersion } = representation
  const { budgets } = recipe
  const identity = [
    ['files', model.filesSha256],
    ['layer', layer],
    ['dtype', storageDtype],
    // Ids from before windows could grow stay what they were.
    ['recipe', recipe.name, recipe.recentInteractions, ...(recipe.window === 'fixed' ? [] : [recipe.window])],
    ['budgets', budgets.view, budgets.head, budgets.recent, budgets.state, budgets.target, budgets.readout],
    ['versions', graphVersion, recipeVersion],
    ...(quantize === undefined ? [] : [['quantize', quantize]]),
    ...(precision === undefined ? [] : [['precision', precision]]),
  ]
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16)
}

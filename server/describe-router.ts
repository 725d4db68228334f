/** What /info says about the router and the frozen LM it needs. */
import type { RouterManifest } from '../models/router/manifest.ts'
import type { InfoResponse } from './wire/responses.schema.ts'

export type RouterDescription = Pick<InfoResponse, 'inputs' | 'representation_id' | 'model' | 'operating_points'>

export function describeRouter(manifest: RouterManifest): RouterDescription {
  const { representation, spec } = manifest
  const needsModel = spec.inputs !== 'evidence'
  return {
    inputs: spec.inputs,
    representation_id: needsModel ? manifest.representationId : null,
    model: needsModel
      ? {
          name: representation.model.name,
          architecture: representation.model.architecture,
          layer: representation.layer,
          recipe: representation.recipe.name,
          view_budget: representation.recipe.budgets.view,
        }
      : null,
    operating_points: Object.fromEntries(
      Object.values(manifest.operatingPoints.points).map(({ name, tau, validation }) => [
        name,
        { tau, precision: validation.precision, recall: validation.recall },
      ]),
    ),
  }
}

/**
 * What a router artefact says about itself, for a reader: router.json without the long lists.
 */
import type { RouterManifest } from './manifest.ts'
import { parameterCount } from './parameters.ts'

/** Lists that have a line per dimension or per group are counted. */
export interface RouterCard extends Omit<RouterManifest, 'standardisation' | 'groups' | 'parent' | 'operatingPoints'> {
  readonly kind: 'router'
  readonly operatingPoints: RouterManifest['operatingPoints']['points']
  readonly calibrated: boolean
  readonly parameters: number
  readonly groups: { readonly training: number; readonly validation: number }
  readonly parent: (Omit<NonNullable<RouterManifest['parent']>, 'seenGroups'> & { readonly seenGroups: number }) | null
}

export function routerCard(manifest: RouterManifest): RouterCard {
  const { standardisation: _, groups, parent, operatingPoints, ...rest } = manifest
  return {
    kind: 'router',
    ...rest,
    operatingPoints: operatingPoints.points,
    calibrated: operatingPoints.calibration !== null,
    parameters: parameterCount(manifest.spec),
    groups: { training: groups.training.length, validation: groups.validation.length },
    parent: parent === null ? null : { ...parent, seenGroups: parent.seenGroups.length },
  }
}

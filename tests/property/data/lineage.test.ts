import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { rowProblems } from '../../../data/annotate/check-evidence.ts'
import { labelAt } from '../../../data/annotate/label-record.ts'
import { annotateLineage, type LineageOptions } from '../../../data/annotate/lineage.ts'
import { readArguments } from '../../../src/evidence/interaction-literals.ts'
import { literalKeys, visitQuoted } from '../../../src/evidence/literals.ts'
import type { Interaction, Trajectory } from '../../../src/trajectory/trajectory.ts'
import { arbitraryRun } from '../evidence/arbitrary-run.ts'

/** READY at c, word for word from DESIGN section 9: slow, without index or boundary. */
function readyByDefinition(run: Trajectory, i: number, checkpoint: number, options: LineageOptions): boolean {
  const acted = (s: Interaction): ReadonlySet<string> => {
    const calls = s.toolCalls.map(readArguments)
    const keys = new Set(literalKeys([s.reasoning, s.text, ...calls.flatMap((call) => call.values)].join('\n')))
    // A value of a JSON text stands between quotes there, so it is a quoted string as a whole too.
    for (const value of calls.flatMap((call) => (call.decoded ? call.values : [])))
      visitQuoted(value.trim(), ({ key }) => keys.add(key))
    return keys
  }
  const standing = (s: Interaction): ReadonlySet<string> =>
    new Set([...acted(s), ...s.observations.flatMap((o) => [...literalKeys(o.content)])])
  const source = run.interactions[i]
  if (source === undefined) return false
  const earlier = [
    run.system,
    run.task,
    ...run.turns.filter((turn) => turn.before <= source.index).map((turn) => turn.text),
  ].flatMap((text) => [...literalKeys(text)])
  const known = new Set([...earlier, ...run.interactions.slice(0, i).flatMap((s) => [...standing(s)])])
  const introduced = [...standing(source)].filter((key) => !known.has(key))
  const after = run.interactions.slice(i + 1)
  const evident = options.anyLiteral ? [...standing(source)] : introduced
  const evidence = after.some((s) => s.index < checkpoint && evident.some((key) => acted(s).has(key)))
  const excused = (key: string): boolean =>
    options.restated === 'excuse' && after.some((s) => s.index < checkpoint && standing(s).has(key))
  const veto = after.some((s) => s.index >= checkpoint && introduced.some((key) => acted(s).has(key) && !excused(key)))
  return evidence && !veto
}

const options = fc.record({ restated: fc.constantFrom('veto' as const, 'excuse' as const), anyLiteral: fc.boolean() })

describe('lineage labels', () => {
  test.prop([arbitraryRun({ gaps: true }), options])('equal the definition at every checkpoint', (run, chosen) => {
    const row = annotateLineage(run, chosen)
    const last = (run.interactions.at(-1)?.index ?? 0) + 1
    for (const [i, label] of row.labels.entries()) {
      for (let checkpoint = label.interaction + 2; checkpoint <= last; checkpoint++)
        expect(labelAt(label, checkpoint) === 1).toBe(readyByDefinition(run, i, checkpoint, chosen))
    }
  })

  test.prop([arbitraryRun({ gaps: true }), options])('pass their own evidence check', (run, chosen) => {
    expect(rowProblems(run, annotateLineage(run, chosen))).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { NO_PINS } from '../../../../src/protocol/history.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { followInteractions, followPins } from '../../../../src/protocol/repair/follow-interactions.ts'
import { repairHistory } from '../../../../src/protocol/repair/repair-history.ts'
import { splitHistory } from '../../../../src/protocol/split-history.ts'

const GO = '{"role":"user","content":"go"}'
const use = (id: string): string =>
  `{"role":"assistant","content":[{"type":"tool_use","id":"${id}","name":"t","input":{}}]}`
const result = (id: string): string =>
  `{"role":"user","content":[{"type":"tool_result","tool_use_id":"${id}","content":"r"}]}`

describe('interactions through a repair', () => {
  const given = parseHistory(
    `[${[GO, use('a'), result('a'), use('dead'), GO, use('b:1'), result('b:1')]}]`,
    'anthropic-messages',
  )
  const repair = repairHistory(given)
  const [before, repaired] = [splitHistory(given), splitHistory(repair.history)]
  const moved = followInteractions(before, repaired, repair)

  it('keep their number where they stay, move up where one before them goes', () => {
    expect([...moved]).toEqual([
      [0, 0],
      [2, 1],
    ])
  })
  it('keep their pins under the new ids', () => {
    const pins = { ...NO_PINS, callIds: ['b:1', 'elsewhere'] }
    expect(followPins(pins, { given: before, repaired, moved }).callIds).toEqual(['b:1', 'elsewhere', 'b_1'])
    expect(followPins(NO_PINS, { given: before, repaired, moved })).toBe(NO_PINS)
  })
})

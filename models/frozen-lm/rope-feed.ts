/** Rotary tables as inputs, as long as the longest run so far needs: a 128k-context model costs nothing up front. */
import * as ort from 'onnxruntime-node'
import type { DecoderConfig } from './decoder.ts'
import { ropeNames } from './decoder-names.ts'
import type { Feeds } from './layer-states.ts'
import { ropeTable } from './rope.ts'

/**
 * @param isInput names of the graph's inputs: tables that none of its layers reads are not made
 * @returns for a run that ends after `rows` positions, the tables to feed
 */
export function createRopeFeed(config: DecoderConfig, isInput: ReadonlySet<string>): (rows: number) => Feeds {
  const { ropes, contextLength } = config
  const used = [...ropes.entries()].filter(([index]) => isInput.has(ropeNames(index).cos))
  let tableRows = 0
  let feeds: Feeds = {}
  return (rows) => {
    if (rows <= tableRows) return feeds
    tableRows = Math.max(rows, Math.min(contextLength, Math.max(1024, 2 ** Math.ceil(Math.log2(rows)))))
    feeds = {}
    for (const [index, { rope, rotarySize }] of used) {
      const { cos, sin } = ropeTable({ rope, headSize: rotarySize, rows: tableRows })
      const names = ropeNames(index)
      feeds[names.cos] = new ort.Tensor('float32', cos, [tableRows, rotarySize / 2])
      feeds[names.sin] = new ort.Tensor('float32', sin, [tableRows, rotarySize / 2])
    }
    return feeds
  }
}

/**
 * Embeddings by llama.cpp (node-llama-cpp, prebuilt CPU binary): `getEmbeddingFor` of each view.
 * With `reuse` the sequence keeps the shared part's cells and only the tokens behind them are taken back between targets:
 * what its chat sessions do for a common prefix, and its embedding context does not offer.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { getLlama } from 'node-llama-cpp'
import { serveArm } from './arm-process.js'

serveArm(async ({ directory, threads, shared, targets, views, reuse }) => {
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    maxThreads: threads,
    logLevel: 'error',
  })
  const model = await llama.loadModel({ modelPath: `${directory}/model.gguf` })
  const longest = shared.length + Math.max(...targets.map((target) => target.length))
  const context = await model.createEmbeddingContext({ contextSize: longest + 1, threads })
  const sequence = context._sequence
  const behindShared = async (target) => {
    await sequence.eraseContextTokenRanges([{ start: shared.length, end: sequence.nextTokenIndex }])
    for await (const _ of sequence.evaluate([...target], { _noSampling: true })) break
    return Float32Array.from(context._llamaContext._ctx.getEmbedding(shared.length + target.length))
  }
  return {
    version: `node-llama-cpp ${versionOf('node-llama-cpp')}`,
    async run(only = targets.length) {
      const hidden = []
      let tokens = 0
      if (!reuse) {
        for (const index of views.slice(0, only)) {
          const view = [...shared, ...targets[index]]
          hidden.push(Float32Array.from((await context.getEmbeddingFor(view)).vector))
          tokens += view.length
        }
        return { tokens, hidden }
      }
      await sequence.eraseContextTokenRanges([{ start: 0, end: sequence.nextTokenIndex }])
      for await (const _ of sequence.evaluate([...shared], { _noSampling: true })) break
      tokens += shared.length
      for (const [index, target] of targets.slice(0, only).entries()) {
        const vector = await behindShared(target)
        if (views.includes(index)) hidden.push(vector)
        tokens += target.length
      }
      return { tokens, hidden }
    },
  }
})

function versionOf(name) {
  const entry = createRequire(import.meta.url).resolve(name)
  const root = entry.slice(0, entry.lastIndexOf(`${name}/`) + name.length)
  return JSON.parse(readFileSync(`${root}/package.json`, 'utf8')).version
}

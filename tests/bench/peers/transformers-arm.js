/**
 * Hidden states by transformers.js: the model's forward as its feature-extraction pipeline calls it, token ids given.
 * With `reuse` the shared part runs once and every target starts from its cache (its DynamicCache).
 */
import { AutoModel, DynamicCache, env, Tensor } from '@huggingface/transformers'
import { serveArm } from './arm-process.js'

env.allowRemoteModels = false
env.useFSCache = false

serveArm(async ({ directory, threads, shared, targets, views, reuse }) => {
  const model = await AutoModel.from_pretrained(directory, {
    dtype: 'fp32',
    device: 'cpu',
    local_files_only: true,
    use_external_data_format: true,
    session_options: { intraOpNumThreads: threads, interOpNumThreads: 1 },
  })
  const forward = (tokens, pastTokens, past) =>
    model({
      input_ids: int64(tokens),
      attention_mask: new Tensor('int64', new BigInt64Array(pastTokens + tokens.length).fill(1n), [
        1,
        pastTokens + tokens.length,
      ]),
      ...(past === null ? {} : { past_key_values: past }),
    })
  return {
    version: `transformers.js ${env.version}`,
    async run(only = targets.length) {
      const hidden = []
      if (!reuse) {
        let tokens = 0
        for (const index of views.slice(0, only)) {
          const view = Int32Array.of(...shared, ...targets[index])
          const { last_hidden_state } = await forward(view, 0, null)
          hidden.push(lastRow(last_hidden_state))
          tokens += view.length
        }
        return { tokens, hidden }
      }
      let tokens = shared.length
      const first = await forward(shared, 0, null)
      const cache = Object.fromEntries(
        Object.entries(first)
          .filter(([name]) => name.startsWith('present'))
          .map(([name, tensor]) => [name.replace('present', 'past_key_values'), tensor]),
      )
      for (const [index, target] of targets.slice(0, only).entries()) {
        // A cache of its own for each target: the forward must not grow the shared one.
        const { last_hidden_state } = await forward(target, shared.length, new DynamicCache(cache))
        if (views.includes(index)) hidden.push(lastRow(last_hidden_state))
        tokens += target.length
      }
      return { tokens, hidden }
    },
  }
})

function int64(tokens) {
  const data = new BigInt64Array(tokens.length)
  for (let i = 0; i < tokens.length; i++) data[i] = BigInt(tokens[i])
  return new Tensor('int64', data, [1, tokens.length])
}

function lastRow(states) {
  const size = states.dims.at(-1)
  return Float32Array.from(states.data.subarray(states.data.length - size))
}

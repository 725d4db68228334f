/**
 * The oracle: a decoder of the Llama family in plain float64 loops, written from the papers and sharing nothing with the
 * graph. Llama (arXiv 2302.13971), grouped heads (2305.13245), rotary angles (2104.09864, halves as Hugging Face pairs
 * them), per-head norms of Qwen3. No rope scaling, no biases.
 */

export interface NaiveDecoder {
  readonly hiddenSize: number
  readonly headCount: number
  readonly keyValueHeadCount: number
  readonly headSize: number
  readonly normEpsilon: number
  readonly theta: number
  readonly weight: (name: string) => Float32Array
}

type Rows = readonly Float64Array[]

/** @returns hidden states after `layerCount` layers, one row per token */
export function naiveHiddenStates(model: NaiveDecoder, tokens: readonly number[], layerCount: number): Rows {
  const { hiddenSize: d, headSize, weight } = model
  const embedding = weight('model.embed_tokens.weight')
  let stream: Rows = tokens.map((token) => Float64Array.from(embedding.subarray(token * d, (token + 1) * d)))
  for (let layer = 0; layer < layerCount; layer++) {
    const get = (name: string): Float32Array => weight(`model.layers.${layer}.${name}.weight`)
    const norm = (rows: Rows, name: string): Rows => rows.map((row) => rmsNorm(row, get(name), model.normEpsilon))
    const normed = norm(stream, 'input_layernorm')
    const heads = (name: string, scale: string | null): readonly Rows[] =>
      matmul(normed, get(`self_attn.${name}`)).map((row, position) =>
        split(row, headSize).map((head) => {
          if (scale === null) return head
          return rotate(hasHeadNorm(model) ? rmsNorm(head, get(`self_attn.${scale}`), model.normEpsilon) : head, {
            position,
            theta: model.theta,
          })
        }),
      )
    const attended = attend(model, heads('q_proj', 'q_norm'), heads('k_proj', 'k_norm'), heads('v_proj', null))
    stream = add(stream, matmul(attended, get('self_attn.o_proj')))
    const second = norm(stream, 'post_attention_layernorm')
    const gate = matmul(second, get('mlp.gate_proj'))
    const up = matmul(second, get('mlp.up_proj'))
    const mixed = gate.map((row, t) => row.map((x, i) => (x / (1 + Math.exp(-x))) * (up[t]?.[i] ?? Number.NaN)))
    stream = add(stream, matmul(mixed, get('mlp.down_proj')))
  }
  return stream
}

function hasHeadNorm(model: NaiveDecoder): boolean {
  return model.weight('model.layers.0.self_attn.q_norm.weight').length > 0
}

function attend(model: NaiveDecoder, q: readonly Rows[], k: readonly Rows[], v: readonly Rows[]): Rows {
  const group = model.headCount / model.keyValueHeadCount
  return q.map((heads, t) => {
    const out = new Float64Array(model.headCount * model.headSize)
    heads.forEach((query, head) => {
      const source = Math.floor(head / group)
      const scores = Array.from({ length: t + 1 }, (_, s) => dot(query, k[s]?.[source]) / Math.sqrt(model.headSize))
      const largest = Math.max(...scores)
      const shares = scores.map((score) => Math.exp(score - largest))
      const total = shares.reduce((sum, share) => sum + share, 0)
      shares.forEach((share, s) => {
        v[s]?.[source]?.forEach((x, i) => {
          out[head * model.headSize + i] = (out[head * model.headSize + i] ?? 0) + (share / total) * x
        })
      })
    })
    return out
  })
}

/** rows x weight^T, weight row-major [out, in] */
function matmul(rows: Rows, weight: Float32Array): Rows {
  return rows.map((row) =>
    Float64Array.from({ length: weight.length / row.length }, (_, o) =>
      dot(row, weight.subarray(o * row.length, (o + 1) * row.length)),
    ),
  )
}

function dot(a: ArrayLike<number>, b: ArrayLike<number> | undefined): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? Number.NaN) * (b?.[i] ?? Number.NaN)
  return sum
}

function add(a: Rows, b: Rows): Rows {
  return a.map((row, t) => row.map((x, i) => x + (b[t]?.[i] ?? Number.NaN)))
}

function rmsNorm(row: Float64Array, scale: Float32Array, epsilon: number): Float64Array {
  const inverse = 1 / Math.sqrt(dot(row, row) / row.length + epsilon)
  return row.map((x, i) => x * inverse * (scale[i] ?? Number.NaN))
}

function split(row: Float64Array, size: number): Rows {
  return Array.from({ length: row.length / size }, (_, i) => row.slice(i * size, (i + 1) * size))
}

function rotate(head: Float64Array, at: { readonly position: number; readonly theta: number }): Float64Array {
  const half = head.length / 2
  return head.map((x, i) => {
    const angle = at.position * at.theta ** (-(2 * (i % half)) / head.length)
    const partner = i < half ? -(head[i + half] ?? Number.NaN) : (head[i - half] ?? Number.NaN)
    return x * Math.cos(angle) + partner * Math.sin(angle)
  })
}

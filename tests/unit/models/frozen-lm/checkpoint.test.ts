import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { writeRandomCheckpoint } from '../../../../models/frozen-lm/bench-random-checkpoint.ts'
import { openCheckpoint } from '../../../../models/frozen-lm/checkpoint.ts'
import { loadFrozenLm } from '../../../../models/frozen-lm/load-frozen-lm.ts'
import {
  readSafetensorsHeader,
  readTensorF32,
  type WritableTensor,
  writeSafetensors,
} from '../../../../models/safetensors.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-checkpoint-'))
afterAll(() => rmSync(folder, { recursive: true }))

const CONFIG = {
  architectures: ['LlamaForCausalLM'],
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  vocab_size: 40,
  max_position_embeddings: 128,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  torch_dtype: 'float32',
}
const Q_PROJ = 'model.layers.1.self_attn.q_proj'

let count = 0
function freshDirectory(config: Readonly<Record<string, unknown>> = CONFIG): string {
  count += 1
  const directory = join(folder, `model-${count}`)
  writeRandomCheckpoint({ directory, config, seed: 1 })
  return directory
}

function rewriteConfig(directory: string, change: Readonly<Record<string, unknown>>): void {
  writeFileSync(join(directory, 'config.json'), JSON.stringify({ ...CONFIG, ...change }))
}

/** Replaces the weights by what `change` makes of them. */
function rewriteTensors(directory: string, change: (tensors: WritableTensor[]) => readonly WritableTensor[]): void {
  const path = join(directory, 'model.safetensors')
  const tensors = [...readSafetensorsHeader(path).tensors].map(([name, info]) => ({
    name,
    shape: info.shape,
    data: readTensorF32(path, info),
  }))
  writeSafetensors(path, change(tensors))
}

const code = (name: string, text: RegExp) =>
  expect.objectContaining({ code: name, message: expect.stringMatching(text) })

async function hiddenOf(directory: string): Promise<Float32Array> {
  const lm = await loadFrozenLm({ directory, layer: 2 })
  const { hidden } = await lm.prefill(Int32Array.of(1, 2, 3), { past: null, rows: [0, 1, 2], keepState: false })
  await lm.close()
  return hidden.data
}

describe('a checkpoint directory', () => {
  it('gives its configuration and the place of every tensor', () => {
    const checkpoint = openCheckpoint(freshDirectory())
    expect(checkpoint.config).toMatchObject({ hiddenSize: 32, layerCount: 2, weightDtype: 'F32' })
    expect(checkpoint.tensors.get(`${Q_PROJ}.weight`)).toMatchObject({ shape: [32, 32], dtype: 'F32', sizeBytes: 4096 })
    expect(checkpoint.tensors.size).toBe(1 + 2 * 9)
  })

  it('may be split into shards with an index, with the same hidden states', async () => {
    const whole = freshDirectory()
    const sharded = freshDirectory()
    const path = join(sharded, 'model.safetensors')
    const names = [...readSafetensorsHeader(path).tensors.keys()]
    const shardOf = (name: string) => `model-0000${(names.indexOf(name) % 3) + 1}-of-00003.safetensors`
    rewriteTensors(sharded, (tensors) => {
      for (const shard of new Set(names.map(shardOf)))
        writeSafetensors(
          join(sharded, shard),
          tensors.filter((tensor) => shardOf(tensor.name) === shard),
        )
      return []
    })
    rmSync(path)
    const index = { weight_map: Object.fromEntries(names.map((name) => [name, shardOf(name)])) }
    writeFileSync(join(sharded, 'model.safetensors.index.json'), JSON.stringify(index))
    expect(await hiddenOf(sharded)).toEqual(await hiddenOf(whole))

    rmSync(join(sharded, 'model-00002-of-00003.safetensors'))
    expect(() => openCheckpoint(sharded)).toThrow(code('safetensors-missing', /model-00002-of-00003.*missing shard/))
  })

  it('may keep norms in F32 beside half-precision matrices', async () => {
    const directory = freshDirectory({ ...CONFIG, torch_dtype: 'float16' })
    expect(openCheckpoint(directory).tensors.get(`${Q_PROJ}.weight`)?.dtype).toBe('F16')
    rewriteConfig(directory, { torch_dtype: null })
    rewriteTensors(directory, (tensors) => tensors)
    expect((await hiddenOf(directory)).every(Number.isFinite)).toBe(true)
  })

  it.each(['model.language_model.', 'language_model.model.', 'language_model.', ''])(
    'may name its tensors with %j before them, beside those of other parts',
    async (prefix) => {
      const directory = freshDirectory()
      rewriteTensors(directory, (tensors) => [
        { name: 'vision_tower.layers.0.weight', shape: [2], data: new Float32Array(2) },
        { name: 'lm_head.weight', shape: [2], data: new Float32Array(2) },
        ...tensors.map((tensor) => ({ ...tensor, name: tensor.name.replace('model.', prefix) })),
        { name: `${prefix}layers.0.self_attn.rotary_emb.inv_freq`, shape: [8], data: new Float32Array(8) },
        { name: `${prefix}layers.2.mtp.weight`, shape: [2], data: new Float32Array(2) },
      ])
      expect(await hiddenOf(directory)).toEqual(await hiddenOf(freshDirectory()))
    },
  )

  it('may be the text part of a multimodal wrapper', async () => {
    const directory = freshDirectory()
    rewriteTensors(directory, (tensors) =>
      tensors.map((tensor) => ({ ...tensor, name: tensor.name.replace('model.', 'model.language_model.') })),
    )
    const { architectures: _, torch_dtype: dtype, ...text } = CONFIG
    const wrapper = {
      architectures: ['Idefics9ForConditionalGeneration'],
      text_config: { ...text, model_type: 'llama' },
      torch_dtype: dtype,
      vision_config: { hidden_size: 7 },
    }
    writeFileSync(join(directory, 'config.json'), JSON.stringify(wrapper))
    expect(openCheckpoint(directory).config.architecture).toBe('Idefics9ForConditionalGeneration')
    expect(await hiddenOf(directory)).toEqual(await hiddenOf(freshDirectory()))
  })

  it('may fuse projections, which are then read in place', async () => {
    const directory = freshDirectory()
    rewriteTensors(directory, (tensors) => {
      const fuse = (layer: number, parts: readonly string[], fused: string): WritableTensor => {
        const own = parts.map((part) => tensors.find(({ name }) => name === `model.layers.${layer}.${part}.weight`))
        const data = Float32Array.from(own.flatMap((tensor) => [...(tensor?.data ?? [])]))
        return { name: `model.layers.${layer}.${fused}.weight`, shape: [data.length / 32, 32], data }
      }
      const query = ['q', 'k', 'v'].map((part) => `self_attn.${part}_proj`)
      const fused = [0, 1].flatMap((layer) => [
        fuse(layer, query, 'self_attn.qkv_proj'),
        fuse(layer, ['mlp.gate_proj', 'mlp.up_proj'], 'mlp.gate_up_proj'),
      ])
      return [...tensors.filter(({ name }) => !/(q|k|v|gate|up)_proj/.test(name)), ...fused]
    })
    rewriteConfig(directory, { architectures: ['Phi3ForCausalLM'] })
    const { offset, sizeBytes } = openCheckpoint(directory).tensors.get('model.layers.1.self_attn.k_proj.weight') ?? {}
    const query = openCheckpoint(directory).tensors.get('model.layers.1.self_attn.q_proj.weight')
    expect([offset, sizeBytes]).toEqual([(query?.offset ?? 0) + (query?.sizeBytes ?? 0), 16 * 32 * 4])
    expect(await hiddenOf(directory)).toEqual(await hiddenOf(freshDirectory()))
  })

  it('may stand in a hub cache, where files are links into blobs', async () => {
    const source = freshDirectory()
    const repository = join(folder, 'hub', 'models--org--name')
    const snapshot = join(repository, 'snapshots', 'abc')
    mkdirSync(snapshot, { recursive: true })
    mkdirSync(join(repository, 'blobs'))
    for (const name of ['config.json', 'model.safetensors']) {
      renameSync(join(source, name), join(repository, 'blobs', `blob-${name.length}`))
      symlinkSync(join('..', '..', 'blobs', `blob-${name.length}`), join(snapshot, name))
    }
    const linked = join(folder, 'linked')
    symlinkSync(snapshot, linked)
    expect(await hiddenOf(linked)).toEqual(await hiddenOf(freshDirectory()))
  })
})

describe('a checkpoint is refused by name when', () => {
  it('a link leaves the directory', () => {
    const directory = freshDirectory()
    const outside = join(folder, 'outside.safetensors')
    renameSync(join(directory, 'model.safetensors'), outside)
    symlinkSync(outside, join(directory, 'model.safetensors'))
    expect(() => openCheckpoint(directory)).toThrow(code('model-link-escapes', /outside\.safetensors/))
  })

  it('a link points to itself', () => {
    const directory = freshDirectory()
    rmSync(join(directory, 'model.safetensors'))
    symlinkSync('model.safetensors', join(directory, 'model.safetensors'))
    expect(() => openCheckpoint(directory)).toThrow(code('file-unreadable', /ELOOP/))
  })

  it('the directory does not exist', async () => {
    await expect(loadFrozenLm({ directory: join(folder, 'nowhere'), layer: 1 })).rejects.toThrow(
      code('model-not-found', /it does not exist.*--model/),
    )
  })

  it('an index names a file outside of the directory', () => {
    const directory = freshDirectory()
    renameSync(join(directory, 'model.safetensors'), join(folder, 'elsewhere.safetensors'))
    const index = { weight_map: { 'model.embed_tokens.weight': '../elsewhere.safetensors' } }
    writeFileSync(join(directory, 'model.safetensors.index.json'), JSON.stringify(index))
    expect(() => openCheckpoint(directory)).toThrow(code('model-link-escapes', /elsewhere/))
  })

  it('there are no safetensors files, or only a dangling link', () => {
    const directory = freshDirectory()
    rmSync(join(directory, 'model.safetensors'))
    expect(() => openCheckpoint(directory)).toThrow(code('safetensors-missing', /only safetensors weights are read/))
    symlinkSync('gone', join(directory, 'model.safetensors'))
    expect(() => openCheckpoint(directory)).toThrow(code('safetensors-missing', /neither model\.safetensors/))
  })

  it('the weights are cut off', () => {
    const directory = freshDirectory()
    const path = join(directory, 'model.safetensors')
    truncateSync(path, readFileSync(path).length - 1)
    expect(() => openCheckpoint(directory)).toThrow(code('safetensors-truncated', /download or copy the file again/))
  })

  it('config.json is missing, is no JSON or is a list', () => {
    const directory = freshDirectory()
    writeFileSync(join(directory, 'config.json'), '[1]')
    expect(() => openCheckpoint(directory)).toThrow(code('config-invalid', /config\.json/))
    writeFileSync(join(directory, 'config.json'), '{')
    expect(() => openCheckpoint(directory)).toThrow(code('config-invalid', /not JSON/))
    rmSync(join(directory, 'config.json'))
    expect(() => openCheckpoint(directory)).toThrow(code('config-invalid', /does not exist/))
  })

  it.each([
    ['another hidden size', { hidden_size: 64 }, /shape \[40, 32\], config\.json implies \[40, 64\]/],
    ['another dtype', { torch_dtype: 'bfloat16' }, /dtype F32, config\.json says BF16/],
    ['more layers', { num_hidden_layers: 3 }, /needs tensor model\.layers\.2\./],
    ['biases that are not there', { attention_bias: true }, /needs tensor .*q_proj\.bias/],
  ])('config.json says %s', (_, change, text) => {
    const directory = freshDirectory()
    rewriteConfig(directory, change)
    expect(() => openCheckpoint(directory)).toThrow(code('tensor-mismatch', text))
  })

  it('the weights hold a bias that config.json denies', () => {
    const directory = freshDirectory()
    const bias = { name: `${Q_PROJ}.bias`, shape: [32], data: new Float32Array(32) }
    rewriteTensors(directory, (tensors) => [...tensors, bias])
    expect(() => openCheckpoint(directory)).toThrow(code('tensor-mismatch', /q_proj\.bias, which config\.json denies/))
  })

  it('the weights hold a norm that its architecture does not have', () => {
    const directory = freshDirectory()
    const norm = { name: 'model.layers.0.self_attn.q_norm.weight', shape: [16], data: new Float32Array(16) }
    rewriteTensors(directory, (tensors) => [...tensors, norm])
    expect(() => openCheckpoint(directory)).toThrow(
      code('tensor-mismatch', /q_norm\.weight, which config\.json denies/),
    )
  })

  it('a tensor holds bytes that are no weights', () => {
    const directory = freshDirectory()
    const path = join(directory, 'model.safetensors')
    writeFileSync(path, readFileSync(path).toString('latin1').replace('"F32"', '"I32"'), 'latin1')
    expect(() => openCheckpoint(directory)).toThrow(code('tensor-mismatch', /dtype I32/))
  })
})

import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { parseServerConfig, executionOf as serverExecutionOf } from '../../../server/config.schema.ts'
import { executionOf, withExecutionOptions, withVectorOptions } from '../../../src/cli/execution-options.ts'

function parse(...args: readonly string[]): ReturnType<typeof executionOf> {
  const command = withVectorOptions(withExecutionOptions(new Command('test').exitOverride())).configureOutput({
    writeErr: () => undefined,
  })
  return executionOf(command.parse(args, { from: 'user' }).opts())
}

describe('the options that say how a model is run', () => {
  it('default to the CPU, float32 and no limit', () => {
    expect(parse()).toEqual({ device: 'cpu', weights: 'auto', quantize: 'none', precision: 'f32' })
  })

  it('are read', () => {
    expect(parse('--device', 'cuda', '--weights', 'mmap', '--memory-mb', '512', '--precision', 'f16')).toEqual({
      device: 'cuda',
      weights: 'mmap',
      memoryBytes: 512e6,
      quantize: 'none',
      precision: 'f16',
    })
    expect(parse('--quantize', 'int8')).toMatchObject({ device: 'cpu', quantize: 'int8' })
  })

  it.each([
    ['--device', 'gpu'],
    ['--weights', 'packed'],
    ['--memory-mb', '0'],
    ['--memory-mb', '1.5'],
    ['--quantize', 'int4'],
    ['--precision', 'bf16'],
  ])('refuse %s %s', (flag, value) => {
    expect(() => parse(flag, value)).toThrow(flag)
  })

  it('are fields of the server too, all but what the router decides', () => {
    const config = (flags: Readonly<Record<string, string>>) =>
      parseServerConfig({ flags: { router: 'router', ...flags }, environment: {}, file: {} })
    expect(serverExecutionOf(config({}))).toEqual({ device: 'cpu', weights: 'auto', memoryBytes: null })
    expect(serverExecutionOf(config({ device: 'webgpu', weights: 'resident', memoryMb: '300' }))).toEqual({
      device: 'webgpu',
      weights: 'resident',
      memoryBytes: 300e6,
    })
    expect(() => config({ device: 'tpu' })).toThrow(expect.objectContaining({ code: 'option-invalid' }))
  })
})

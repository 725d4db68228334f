/** Docker does not run here: the file is read as Docker would read it, and held to what docs/devices.md promises. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../models/package-root.ts'

interface Instruction {
  readonly name: string
  readonly rest: string
}

interface Stage {
  readonly name: string
  readonly base: string
  readonly instructions: readonly Instruction[]
}

const TEXT = readFileSync(packageFile('Dockerfile.cuda'), 'utf8')

/** Lines that end in a backslash go on; comment lines may stand anywhere. */
function instructionsOf(text: string): readonly Instruction[] {
  return text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line) && line.trim() !== '')
    .join('\n')
    .replace(/\s*\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => {
      const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? []
      return { name: name.toUpperCase(), rest }
    })
}

const ALL = instructionsOf(TEXT)
const FIRST_FROM = ALL.findIndex(({ name }) => name === 'FROM')
const GLOBAL_ARGS = ALL.slice(0, FIRST_FROM)
const STAGES: readonly Stage[] = stagesOf(ALL.slice(FIRST_FROM))

function stagesOf(instructions: readonly Instruction[]): readonly Stage[] {
  const starts = [...instructions.keys()].filter((i) => instructions[i]?.name === 'FROM')
  return starts.map((start, i) => {
    const [, base = '', name = ''] = /^(\S+) AS (\S+)$/.exec(instructions[start]?.rest ?? '') ?? []
    return { name, base, instructions: instructions.slice(start + 1, starts[i + 1]) }
  })
}

function stage(name: string): Stage {
  const found = STAGES.find((one) => one.name === name)
  if (found === undefined) throw new Error(`Dockerfile.cuda has no stage ${name}`)
  return found
}

function all(of: Stage, name: string): readonly string[] {
  return of.instructions.filter((instruction) => instruction.name === name).map(({ rest }) => rest)
}

describe('Dockerfile.cuda', () => {
  it('knows only instructions that there are, and names every stage', () => {
    const known = 'ARG FROM WORKDIR ENV COPY RUN USER EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD'.split(' ')
    expect(ALL.filter(({ name }) => !known.includes(name))).toEqual([])
    expect(STAGES.map(({ name }) => name)).toEqual(['node', 'build', 'cuda-provider', 'serve', 'tfjs', 'train-gpu'])
  })

  it('pins every image by a version and by a digest that the build must name', () => {
    const args = GLOBAL_ARGS.map(({ name, rest }) => `${name} ${rest}`)
    const names = STAGES.map(({ name }) => name)
    const images = STAGES.map(({ base }) => base).filter((base) => !names.includes(base))
    expect(images.length).toBe(3)
    for (const image of images) {
      const [, tag = '', digest = ''] = /^[\w/.-]+:([\w.-]+)@\$\{(\w+)\}$/.exec(image) ?? []
      expect(tag, image).toMatch(/^\d+\.\d+\.\d+/)
      // Without a default: an unnamed digest fails the build instead of taking whatever is newest.
      expect(args).toContain(`ARG ${digest}`)
    }
    expect(TEXT).not.toMatch(/\blatest\b/)
  })

  it('takes stages only from those above', () => {
    for (const [index, one] of STAGES.entries()) {
      const above = STAGES.slice(0, index).map(({ name }) => name)
      const from = [
        ...all(one, 'COPY')
          .join('\n')
          .matchAll(/--from=(\S+)/g),
      ].map((match) => match[1] ?? '')
      for (const name of from) expect(above).toContain(name)
    }
  })

  it('serves with Node 20, CUDA 12, cuDNN and the CUDA provider, on full float32', () => {
    expect(stage('node').base).toMatch(/^node:20\./)
    expect(stage('serve').base).toMatch(/^nvidia\/cuda:12\.\d+\.\d+-cudnn-runtime/)
    expect(all(stage('cuda-provider'), 'RUN').join()).toMatch(
      /ONNXRUNTIME_NODE_INSTALL=true .*install\.js && test -f .*libonnxruntime_providers_cuda\.so/,
    )
    expect(all(stage('serve'), 'COPY').join()).toContain('--from=cuda-provider')
    const env = all(stage('serve'), 'ENV').join(' ')
    expect(env).toContain('NVIDIA_TF32_OVERRIDE=0')
    expect(env).toContain('KEEPREADY_DEVICE=cuda')
  })

  it('trains with Node 20, CUDA 11.2 and cuDNN 8, tfjs-node-gpu beside the lock', () => {
    expect(stage('train-gpu').base).toMatch(/^nvidia\/cuda:11\.2\.\d+-cudnn8-runtime/)
    expect(all(stage('tfjs'), 'RUN').join()).toMatch(
      /npm install --no-save .*tfjs-node-gpu@\$\{TFJS_VERSION\} && test -d/,
    )
    // An optional peer is never installed by itself.
    const { packages } = JSON.parse(readFileSync(packageFile('package-lock.json'), 'utf8'))
    expect(Object.keys(packages)).not.toContain('node_modules/@tensorflow/tfjs-node-gpu')
  })

  it.each(['serve', 'train-gpu'])('%s runs as a user that is not root, and nothing after it is run as root', (name) => {
    const { instructions } = stage(name)
    const user = instructions.findIndex((instruction) => instruction.name === 'USER')
    expect(instructions[user]?.rest).toBe('keepready')
    expect(instructions.slice(user).filter(({ name: after }) => ['RUN', 'COPY', 'USER'].includes(after)).length).toBe(1)
    expect(all(stage(name), 'ENTRYPOINT')).toEqual(['["node", "/app/bin/keepready.js"]'])
  })

  it('checks the health of the server at /livez, with a program that compiles', () => {
    const [check = ''] = all(stage('serve'), 'HEALTHCHECK')
    const [, command = '[]'] = /CMD (\[.*\])$/.exec(check) ?? []
    const [program, flag, script = ''] = JSON.parse(command) as string[]
    expect([program, flag]).toEqual(['node', '-e'])
    expect(script).toContain('/livez')
    expect(() => new Function(script)).not.toThrow()
    expect(all(stage('train-gpu'), 'HEALTHCHECK')).toEqual(['NONE'])
  })

  it('names no host to fetch from: whoever builds decides where packages come from', () => {
    expect(TEXT).not.toMatch(/https?:\/\/(?!127\.0\.0\.1)|registry\.|\.org\b|\.com\b/)
  })

  it('copies what is there, and .dockerignore lets exactly that through', () => {
    const copied = STAGES.flatMap((one) => all(one, 'COPY'))
      .filter((rest) => !rest.includes('--from='))
      .flatMap((rest) => rest.split(' ').slice(0, -1))
    expect(copied.length).toBeGreaterThan(8)
    for (const path of copied) expect(existsSync(packageFile(path)), path).toBe(true)
    const ignore = readFileSync(packageFile('.dockerignore'), 'utf8').split('\n')
    expect(ignore.filter((line) => !line.startsWith('#'))[0]).toBe('*')
    const through = ignore.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
    expect(through.sort()).toEqual([...copied].sort())
  })
})

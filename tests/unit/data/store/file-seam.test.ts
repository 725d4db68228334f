import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FileSeam, nodeFiles, writeFileWhole, writeTextWhole } from '../../../../data/store/file-seam.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-seam-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Passes `bytesLeft` bytes and then fails as the system would. */
function smallDisk(bytesLeft: number, code: string): FileSeam {
  return {
    ...nodeFiles,
    async create(path) {
      const sink = await nodeFiles.create(path)
      let left = bytesLeft
      return {
        ...sink,
        async write(bytes) {
          left -= bytes.length
          if (left < 0) throw Object.assign(new Error(code), { code })
          await sink.write(bytes)
        },
      }
    },
  }
}

describe('writeFileWhole', () => {
  it('writes the bytes, says their size and hash, and lets only the owner read', async () => {
    const path = join(folder, 'text.txt')
    const written = await writeTextWhole(nodeFiles, path, 'abc')
    expect(await readFile(path, 'utf8')).toBe('abc')
    // sha256 of "abc": FIPS 180-2, appendix B.1.
    expect(written).toEqual({
      sizeBytes: 3,
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    })
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it.each(['ENOSPC', 'EDQUOT', 'EFBIG'])(
    'turns %s into disk-full and keeps the older file, and nothing else',
    async (code) => {
      const path = join(folder, 'data.bin')
      await writeFile(path, 'older')
      const attempt = writeFileWhole(smallDisk(5, code), path, async (append) => {
        await append(new Uint8Array(4))
        await append(new Uint8Array(4))
      })
      await expect(attempt).rejects.toMatchObject({ code: 'disk-full', details: { errno: code } })
      await expect(attempt).rejects.toThrow(/run the same command again/)
      expect(await readFile(path, 'utf8')).toBe('older')
      expect(await readdir(folder)).toEqual(['data.bin'])
    },
  )

  it('keeps the older file when the content fails half-way, with that failure as it was', async () => {
    const path = join(folder, 'data.bin')
    await writeFile(path, 'older')
    const attempt = writeFileWhole(nodeFiles, path, async (append) => {
      await append(new Uint8Array(4))
      throw new RangeError('mine')
    })
    await expect(attempt).rejects.toThrow(new RangeError('mine'))
    expect(await readFile(path, 'utf8')).toBe('older')
  })

  it('names a folder that is not there', async () => {
    const attempt = writeTextWhole(nodeFiles, join(folder, 'nowhere', 'x.txt'), 'abc')
    await expect(attempt).rejects.toMatchObject({ code: 'file-unreadable', details: { errno: 'ENOENT' } })
  })
})

import { describe, expect, it } from 'vitest'
import { openZip, ZIP_LIMITS, type ZipArchive, type ZipLimits } from '../../../../data/import/zip-archive.ts'
import { withFolder } from '../../../fixtures/import-log.ts'
import { type ZipPart, zipFile } from '../../../fixtures/zip-file.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

async function withZip<T>(
  bytes: Buffer,
  use: (zip: ZipArchive) => Promise<T> | T,
  limits: Partial<ZipLimits> = {},
): Promise<T> {
  return withFolder({ 'a.eval': bytes }, async (folder) => {
    using zip = await openZip(`${folder}/a.eval`, { ...ZIP_LIMITS, ...limits })
    return await use(zip)
  })
}

const opened = (parts: readonly ZipPart[], limits: Partial<ZipLimits> = {}): Promise<number> =>
  withZip(zipFile(...parts), (zip) => zip.entries.length, limits)

const refused = (reason: RegExp): object => ({ code: 'archive-refused', message: expect.stringMatching(reason) })

describe('a zip archive', () => {
  it('gives its files by name, deflated or stored, without folders and BOMs', async () => {
    const parts = [
      { name: 'samples/', text: '' },
      { name: 'samples/1.json', text: '\ufeff{"é":1}' },
      { name: 'header.json', text: '{}', isStored: true },
    ]
    await withZip(zipFile(...parts), async (zip) => {
      expect(zip.entries.map((entry) => entry.name)).toEqual(['samples/1.json', 'header.json'])
      expect(await zip.readText('samples/1.json')).toBe('{"é":1}')
      expect(await zip.readText('header.json')).toBe('{}')
      await expect(zip.readText('nothing.json')).rejects.toMatchObject({ code: 'file-not-found' })
    })
  })

  it('gives the last of two entries with one name', async () => {
    await withZip(zipFile({ name: 'a', text: 'old' }, { name: 'a', text: 'new' }), async (zip) => {
      expect(zip.entries).toEqual([{ name: 'a', sizeBytes: 3 }])
      expect(await zip.readText('a')).toBe('new')
    })
  })

  it.each(['../up.json', '/etc/passwd', 'C:/x.json', 'a/../../b', 'a\\b.json'])('refuses the path %s', async (name) => {
    await expect(opened([{ name, text: '{}' }])).rejects.toMatchObject(refused(/path|characters/))
  })

  it('refuses a symbolic link', async () => {
    await expect(opened([{ name: 'a', text: '/etc/passwd', mode: 0o120777 }])).rejects.toMatchObject(
      refused(/symbolic link/),
    )
  })

  it('refuses more entries, larger entries and a larger total than the limits', async () => {
    const parts = [
      { name: 'a', text: 'x'.repeat(60) },
      { name: 'b', text: 'y'.repeat(60) },
    ]
    await expect(opened(parts, { entries: 1 })).rejects.toMatchObject(refused(/2 entries, the limit is 1/))
    await expect(opened(parts, { entryBytes: 59 })).rejects.toMatchObject(refused(/60 bytes, the limit is 59/))
    await expect(opened(parts, { totalBytes: 119 })).rejects.toMatchObject(refused(/limit of 119 bytes/))
    expect(await opened(parts, { entries: 2, entryBytes: 60, totalBytes: 120 })).toBe(2)
  })

  it('refuses a bomb by its ratio, and takes real text', async () => {
    await expect(opened([{ name: 'bomb', text: Buffer.alloc(4 << 20) }])).rejects.toMatchObject(refused(/200 times/))
    const text = Array.from({ length: 100_000 }, (_, line) => `line ${line} of ${line * 7919}`).join('\n')
    expect(await opened([{ name: 'log', text }])).toBe(1)
  })

  it('refuses entries that share their data', async () => {
    const text = Array.from({ length: 500 }, (_, line) => `${line * 7919}`).join('\n')
    const bomb = Array.from({ length: 9 }, (_, at) => ({ name: `s${at}`, text, sharesData: at > 0 }))
    await expect(opened(bomb)).rejects.toMatchObject(refused(/overlap/))
  })

  it('stops inflating an entry that holds more than it declares', async () => {
    const lying = zipFile({ name: 'a', text: 'x'.repeat(5000), declaredBytes: 10 })
    await withZip(lying, (zip) => expect(zip.readText('a')).rejects.toMatchObject(refused(/bytes/)))
  })

  it('refuses to read an encrypted entry, and one with another compression', async () => {
    const odd = zipFile({ name: 'a', text: 'x', isEncrypted: true }, { name: 'b', text: 'x', method: 93 })
    await withZip(odd, async (zip) => {
      await expect(zip.readText('a')).rejects.toMatchObject(refused(/encrypted/))
      await expect(zip.readText('b')).rejects.toMatchObject(refused(/compression method 93/))
    })
  })

  it('says that a torn archive is torn, and that a missing one is missing', async () => {
    const whole = zipFile({ name: 'a', text: 'x'.repeat(500) })
    await expect(withZip(whole.subarray(0, 40), () => 0)).rejects.toMatchObject({ code: 'log-malformed' })
    await expect(openZip('/no/such.eval')).rejects.toMatchObject({ code: 'file-not-found' })
    const damaged = Buffer.from(whole)
    damaged.fill(0xff, 31, 36)
    await withZip(damaged, (zip) => expect(zip.readText('a')).rejects.toMatchObject({ code: 'log-malformed' }))
  })

  itWithShared('gives the samples of a real evaluation log', async () => {
    using zip = await openZip(sharedPath('trajectories', 'inspect_ai', 'log_streaming.eval'))
    expect(zip.entries.filter((entry) => entry.name.startsWith('samples/'))).toHaveLength(4)
    expect(JSON.parse(await zip.readText('samples/2_epoch_1.json'))).toHaveProperty('messages')
  })
})

import { describe, expect, it } from 'vitest'
import { lineStyleOf } from '../../../../training/report/series.ts'
import { STYLE } from '../../../../training/report/style.ts'

/** Variables of the first (light) and the second (dark) `:root` rule; what dark does not set it takes over from light. */
const [light, dark] = [...STYLE.matchAll(/:root \{([^}]*)\}/g)].map((rule) =>
  Object.fromEntries(
    [...(rule[1] ?? '').matchAll(/--([a-z]+): (#[0-9a-f]{6})/g)].map((found) => [found[1] ?? '', found[2] ?? '']),
  ),
)
const SCHEMES = { light: { ...light }, dark: { ...light, ...dark } }
const TEXT = ['ink', 'soft', 'blue', 'vermilion', 'green', 'purple', 'grey', 'good', 'bad']

/** WCAG 2.2, relative luminance. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (high + 0.05) / (low + 0.05)
}

describe('colours of the pages', () => {
  for (const [name, colours] of Object.entries(SCHEMES))
    it.each(TEXT)(`${name}: %s stands out from the page and from panels by 4.5 to 1`, (colour) => {
      expect(contrast(colours[colour] ?? '', colours.page ?? '')).toBeGreaterThanOrEqual(4.5)
      expect(contrast(colours[colour] ?? '', colours.panel ?? '')).toBeGreaterThanOrEqual(4.5)
    })

  it('are set again for a dark screen, and not on paper', () => {
    expect(Object.keys(dark ?? {})).toEqual(Object.keys(light ?? {}))
    expect(STYLE.match(/@media[^{]*prefers-color-scheme: dark/g)).toEqual([
      '@media screen and (prefers-color-scheme: dark',
    ])
  })

  it('never tell two lines apart by colour alone: no colour and dash comes twice, and each hue has its own dash', () => {
    const lines = Array.from({ length: 25 }, (_, at) => lineStyleOf('', at))
    expect(new Set(lines.map(({ colour, dash }) => `${colour} ${dash}`)).size).toBe(25)
    expect(new Set(lines.slice(0, 5).map(({ dash }) => dash)).size).toBe(5)
  })
})

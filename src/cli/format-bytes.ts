/** Sizes as people say them. */

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

/** Decimal units: 269060280 -> 269 MB, 1500000000 -> 1.5 GB. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  const text = unit === 0 || value >= 99.95 ? Math.round(value).toString() : value.toFixed(1)
  return `${text} ${UNITS[unit]}`
}

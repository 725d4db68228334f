/**
 * What a redaction rule is: a pattern with its reason and with the examples that are its tests. Pure.
 */

export interface RedactionRule {
  /** Stands in the mask and in counts, e.g. `github-token`. */
  readonly id: string
  /** What it masks, as one sentence of docs/redaction.md. */
  readonly sentence: string
  /** Global. Group `secret` is masked, group `head` stands before it and stays; without groups the whole match is masked. */
  readonly pattern: RegExp
  /** Characters of the secret, sticky: it goes on with them behind a line break that a terminal of fixed width put in. */
  readonly wraps?: RegExp
  /** Further condition on a match, e.g. its entropy. `quoted`: it stands in quotes. */
  readonly isSecret?: (secret: string, quoted: boolean) => boolean
  readonly hits: readonly RedactionExample[]
  /** Texts that look like it and are no secret. */
  readonly misses: readonly string[]
}

export interface RedactionExample {
  readonly text: string
  /** The part that is masked. */
  readonly secret: string
}

/** Shannon entropy of the characters, in bits each: 0 for one repeated character, about 3.9 for 20 random hex digits. */
export function bitsPerCharacter(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

export const LETTERS_AND_DIGITS = 'aB3dE7gH1jK9mN5pQ2rS8tU4vW6xY0zCfGiLoRnTbVhXqZwDyFkMsAuJePlIc'

/** The beginning of a made-up secret for examples: one that scanners of repositories must not take for a real one. */
export function fakeSecret(prefix: string, length: number, alphabet: string = LETTERS_AND_DIGITS): string {
  let body = ''
  for (let at = 0; at < length; at += 1) body += alphabet.charAt((at * 7 + (at >> 3)) % alphabet.length)
  return prefix + body
}

/** An example in which the secret stands between two texts. */
export function hit(secret: string, before = 'key ', after = ' end'): RedactionExample {
  return { text: before + secret + after, secret }
}

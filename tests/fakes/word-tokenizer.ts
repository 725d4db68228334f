import type { Tokenizer } from '../../models/tokenizer/port.ts'

/** One token per word, space or sign; lossless; ids in order of first sight. */
export function createWordTokenizer(prefixIds: readonly number[] = []): Tokenizer {
  const ids = new Map<string, number>([['<bos>', 0]])
  const texts = ['<bos>']
  return {
    encode(text) {
      return Int32Array.from(text.match(/\w+|\W/gu) ?? [], (word) => {
        const id = ids.get(word) ?? texts.push(word) - 1
        ids.set(word, id)
        return id
      })
    },
    decode: (tokens) => Array.from(tokens, (id) => texts[id] ?? '\ufffd').join(''),
    prefixIds,
    vocabularySize: 1 << 20,
  }
}

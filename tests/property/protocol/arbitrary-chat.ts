/** Random histories of formats whose messages have a role and a content, written step by step. */
import fc from 'fast-check'
import type { HistoryFormat } from '../../../src/protocol/history.ts'
import { completed, oddMessage, type Step, steps } from './arbitrary-step.ts'
import {
  type ArbitraryFormat,
  type GivenHistory,
  givenHistory,
  lengthened,
  type Said,
  startTalk,
} from './given-history.ts'

export interface ChatWriter {
  readonly format: HistoryFormat
  /** What a valid history must not have, beside what a completed step leaves out. */
  readonly valid: Partial<Step>
  /** The messages of a step that acts: calls, results, and what is said around them. */
  readonly act: (one: Step, number: number, words: { readonly text: string; readonly said: Said }) => readonly string[]
}

export function arbitraryChat(writer: ChatWriter): ArbitraryFormat {
  const drawn = fc.tuple(steps, fc.boolean())
  return {
    any: drawn.map(([list, pretty]) => write(writer, list, pretty)),
    valid: drawn.map(([list, pretty]) =>
      write(
        writer,
        list.map((one) => ({ ...completed(one), ...writer.valid })),
        pretty,
      ),
    ),
  }
}

function write({ format, act }: ChatWriter, list: readonly Step[], pretty: boolean): GivenHistory {
  const said = startTalk()
  const messages = [oddMessage('user', JSON.stringify(said.say('go')))]
  list.forEach((one, number) => {
    const text = lengthened(one.word, one.long)
    if (one.kind === 'user') messages.push(oddMessage('user', JSON.stringify(said.say(text))))
    else if (one.kind === 'system') messages.push(oddMessage('system', JSON.stringify(`rule ${number}`)))
    else if (one.kind === 'say') messages.push(oddMessage('assistant', JSON.stringify(text === '' ? 'said' : text)))
    else messages.push(...act(one, number, { text, said }))
  })
  return givenHistory(format, { messages, userTexts: said.texts }, { pretty, field: 'messages' })
}

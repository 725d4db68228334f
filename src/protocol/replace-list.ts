/**
 * A history back into the text that it was read from: a bare list, or the request body around it. Pure.
 */
import { replaceElements } from './edit-json.ts'
import type { History } from './history.ts'

/** @param text what parseHistory read; every byte of it outside the list stays */
export function replaceList(text: string, { listField, messages }: Pick<History, 'listField' | 'messages'>): string {
  const raws = messages.map(({ raw }) => raw)
  const bare = /^[\ufeff\s]*\[/.test(text)
  return replaceElements(text, bare ? [] : [listField], raws)
}

/** A request body of its own: system and tools where there are any, and the list. */
export function renderBody(
  { listField, messages, system, tools }: Pick<History, 'listField' | 'messages' | 'system' | 'tools'>,
  systemField: string,
): string {
  const members = [
    ...(system === null ? [] : [`${JSON.stringify(systemField)}:${system.raw}`]),
    ...(tools === null ? [] : [`"tools":${tools.raw}`]),
    `${JSON.stringify(listField)}:[${messages.map(({ raw }) => raw).join(',')}]`,
  ]
  return `{${members.join(',')}}`
}

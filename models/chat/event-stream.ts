/**
 * Server-sent events: bytes -> the data of each event. Source: HTML standard, section 9.2 (event streams).
 */

/**
 * Data of each event, several `data:` lines joined by a line break; comments and other fields are skipped. Lines end with
 * LF, CR or CRLF; a character may be split over chunks. A last event without the blank line is given too: servers forget
 * it after [DONE].
 */
export async function* readEventStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let pending = ''
  let data: string[] = []
  const take = function* (text: string): Generator<string> {
    pending += text
    if (!/[\r\n]/.test(text)) return
    // A CR at the end may be half of a CRLF: it waits for the next chunk.
    const lines = pending.split(/\r\n|\n|\r(?!$)/)
    pending = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n')
        data = []
      } else if (line.startsWith('data:')) data.push(line.slice(line.startsWith('data: ') ? 6 : 5))
    }
  }
  for await (const chunk of chunks) yield* take(decoder.decode(chunk, { stream: true }))
  yield* take(`${decoder.decode()}\n\n`)
  if (data.length > 0) yield data.join('\n')
}

/** The action in a text message of mini-swe-agent. Pure. */
import type { ToolCall } from '../../src/trajectory/trajectory.ts'

/** The agent's one tool has no name in a text log. */
const BASH = 'bash'
const OPENERS = ['```mswea_bash_command\n', '```bash\n']

export interface TextAction {
  readonly reasoning: string
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
}

/**
 * With exactly one action block, what stands around it is the thought. Any other number is no action: the agent answers
 * such a message with a notice instead of running something.
 */
export function textAction(content: string, thinking: string): TextAction {
  const blocks = actionBlocks(content)
  const [block] = blocks
  if (block === undefined || blocks.length > 1) return { reasoning: thinking, text: content, toolCalls: [] }
  const thought = [content.slice(0, block.start), content.slice(block.end)].map((text) => text.trim())
  return {
    reasoning: [thinking, ...thought].filter((text) => text !== '').join('\n\n'),
    text: '',
    toolCalls: [{ id: null, name: BASH, arguments: block.command }],
  }
}

interface Block {
  readonly start: number
  readonly end: number
  readonly command: string
}

/** Fenced blocks of an action, each from its opener to the next fence on a line of its own. */
function actionBlocks(content: string): readonly Block[] {
  const blocks: Block[] = []
  let at = 0
  for (;;) {
    const found = OPENERS.map((opener) => ({ opener, start: content.indexOf(opener, at) }))
      .filter(({ start }) => start !== -1)
      .toSorted((a, b) => a.start - b.start)[0]
    if (found === undefined) return blocks
    const from = found.start + found.opener.length
    const close = content.startsWith('```', from) ? from : content.indexOf('\n```', from)
    if (close === -1) return blocks
    const end = close + (close === from ? 3 : 4)
    blocks.push({ start: found.start, end, command: content.slice(from, close) })
    at = end
  }
}

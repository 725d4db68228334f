/**
 * Events of an OpenHands SDK conversation -> interactions. A model call is all actions of one llm_response_id; its thought
 * and reasoning stand on the first of them. Observations name their action and their call.
 */
import type { SourceRef } from '../../src/trajectory/trajectory.ts'
import { contentText } from './content-text.ts'
import type { ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { pairResult } from './pair-result.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'

/** Kinds without a part in the conversation. */
const NOISE = new Set([
  'ConversationStateUpdateEvent',
  'CondensationRequest',
  'PauseEvent',
  'TokenEvent',
  'LLMCompletionLogEvent',
  'StreamingDeltaEvent',
  'HookExecutionEvent',
])
const KINDS = new Set([
  ...NOISE,
  'SystemPromptEvent',
  'MessageEvent',
  'ActionEvent',
  'ObservationEvent',
  'AgentErrorEvent',
  'UserRejectObservation',
  'Condensation',
  'CondensationSummaryEvent',
  'ConversationErrorEvent',
])
const NO_SUMMARY = 'condensation without a summary'

export function isEvent(value: unknown): value is JsonObject {
  return isObject(value) && typeof value.kind === 'string' && 'source' in value && looksLikeKind(value.kind)
}

/** Newer versions add kinds: they are counted, not damage. */
function looksLikeKind(kind: string): boolean {
  return KINDS.has(kind) || /^[A-Z][A-Za-z]+(?:Event|Observation)$/.test(kind)
}

export interface EventRun {
  readonly run: RunBuilder
  readonly context: ReadContext
  readonly system: string[]
  /** Interaction of each model response, and of each action event. */
  readonly byResponse: Map<string, number>
  readonly byAction: Map<string, number>
  /** Response-less actions in a row are one batch. */
  open: number | null
  /** It ended in an error of the conversation, e.g. its step limit. */
  isCut: boolean
}

export function createEventRun(context: ReadContext): EventRun {
  return {
    run: createRunBuilder(),
    context,
    system: [],
    byResponse: new Map(),
    byAction: new Map(),
    open: null,
    isCut: false,
  }
}

export function addEvent(state: EventRun, event: JsonObject, source: SourceRef): void {
  const kind = String(event.kind)
  if (NOISE.has(kind)) {
    state.context.ignore(kind)
    return
  }
  if (kind !== 'ActionEvent') state.open = null
  state.isCut = kind === 'ConversationErrorEvent'
  switch (kind) {
    case 'SystemPromptEvent':
      state.system.push(...promptTexts(event))
      break
    case 'MessageEvent':
      addMessage(state, event, source)
      break
    case 'ActionEvent':
      addAction(state, event, source)
      break
    case 'ObservationEvent':
      addObservation(state, event, { source, ...observed(objectOf(event.observation)) })
      break
    case 'AgentErrorEvent':
      addObservation(state, event, { source, content: contentText(event.error), isError: true })
      break
    case 'UserRejectObservation':
      addObservation(state, event, { source, content: stringOf(event.rejection_reason), isError: true })
      break
    case 'Condensation':
      if (stringOf(event.summary).trim() === '') state.context.ignore(NO_SUMMARY)
      else state.run.turn('summary', stringOf(event.summary), source)
      break
    default:
      state.context.ignore(KINDS.has(kind) ? kind : `unknown ${kind}`)
  }
}

function promptTexts(event: JsonObject): readonly string[] {
  return [event.system_prompt, event.dynamic_context].map((block) => blockText(block)).filter((text) => text !== '')
}

function blockText(block: unknown): string {
  return isObject(block) ? contentText([block]) : contentText(block)
}

/** A person's message may carry text that the harness appended, e.g. a skill. An agent's message is a model call. */
function addMessage(state: EventRun, event: JsonObject, source: SourceRef): void {
  const message = objectOf(event.llm_message)
  const text = contentText(message.content)
  if (event.source !== 'agent') {
    state.run.turn(event.source === 'user' ? 'user' : 'context', text, source)
    state.run.turn('context', contentText(event.extended_content), source)
  } else if (message.role === 'assistant') addModelParts(state, event, { source, message, text, toolCalls: [] })
  else state.run.turn('context', text, source)
}

function addAction(state: EventRun, event: JsonObject, source: SourceRef): void {
  const call = objectOf(event.tool_call)
  const toolCall = {
    id: idOf(event.tool_call_id) ?? idOf(call.id),
    name: stringOf(event.tool_name) || stringOf(call.name),
    arguments: textOf(call.arguments ?? event.action),
  }
  const index = addModelParts(state, event, {
    source,
    message: event,
    text: contentText(event.thought),
    toolCalls: [toolCall],
  })
  if (typeof event.id === 'string') state.byAction.set(event.id, index)
}

function addModelParts(
  state: EventRun,
  event: JsonObject,
  part: {
    readonly source: SourceRef
    /** Holds the reasoning fields. */
    readonly message: JsonObject
    readonly text: string
    readonly toolCalls: readonly { readonly id: string | null; readonly name: string; readonly arguments: string }[]
  },
): number {
  const response = idOf(event.llm_response_id)
  const reasoning = reasoningOf(part.message)
  const more = { reasoning, text: withoutReasoning(part.text, reasoning), toolCalls: part.toolCalls }
  const known = response === null ? state.open : (state.byResponse.get(response) ?? null)
  if (known !== null) state.run.extend(known, more)
  const index = known ?? state.run.call({ ...more, source: part.source })
  if (response !== null) state.byResponse.set(response, index)
  state.open = response === null && part.toolCalls.length > 0 ? index : null
  return index
}

function reasoningOf(message: JsonObject): string {
  const said = stringOf(message.reasoning_content)
  if (said !== '') return said
  const blocks = arrayOf(message.thinking_blocks).filter(isObject)
  const item = objectOf(message.responses_reasoning_item)
  return [...blocks.map((block) => stringOf(block.thinking)), contentText(item.content) || contentText(item.summary)]
    .filter((text) => text !== '')
    .join('\n')
}

/** Some models write their reasoning into the text as well, between think tags: it counts once. */
function withoutReasoning(text: string, reasoning: string): string {
  const end = text.indexOf('</think>')
  if (!text.trimStart().startsWith('<think>') || end === -1 || reasoning === '') return text
  const inner = text.slice(text.indexOf('<think>') + '<think>'.length, end)
  return inner.trim() === reasoning.trim() ? text.slice(end + '</think>'.length).trim() : text
}

function observed(observation: JsonObject): { readonly content: string; readonly isError: boolean } {
  const content = observation.content ?? observation.output ?? observation.text
  return { content: contentText(content), isError: observation.is_error === true || observation.error === true }
}

function addObservation(
  state: EventRun,
  event: JsonObject,
  result: { readonly source: SourceRef; readonly content: string; readonly isError: boolean },
): void {
  pairResult(
    state.run,
    {
      callId: idOf(event.tool_call_id),
      name: idOf(event.tool_name),
      content: result.content,
      isError: result.isError,
    },
    { source: result.source, context: state.context, of: state.byAction.get(stringOf(event.action_id)) },
  )
}

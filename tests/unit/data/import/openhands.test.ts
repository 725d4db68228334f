import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const shared = (name: string): string => sharedPath('trajectories/openhands', name)

describe('OpenHands SDK events', () => {
  it('makes all actions of one llm_response_id one interaction, its thought once', async () => {
    const run = only(await importFixture('openhands-events.jsonl'))
    expect(run).toMatchObject({ system: 'You are OpenHands.', task: 'Fix the build.' })
    expect(run.interactions.map((entry) => [entry.reasoning, entry.text, entry.toolCalls.length])).toEqual([
      ['Look twice.', 'Looking.', 2],
      ['An editor hangs.', '', 1],
      ['', '', 1],
      ['Say why.', 'The Makefile is empty.', 0],
    ])
  })

  it('pairs results by their action, reused call ids included; agent errors and rejections are results', async () => {
    const run = only(await importFixture('openhands-events.jsonl'))
    expect(run.interactions.map((entry) => entry.observations)).toEqual([
      [
        { callId: 't2', content: 'make: error 1', isError: true },
        { callId: 't1', content: 'Makefile', isError: false },
      ],
      [{ callId: 't1', content: 'Terminal is busy', isError: true }],
      [{ callId: 't3', content: 'Do not do that.', isError: true }],
      [],
    ])
  })

  it('keeps an observation without its action as context, a condensation as summary, skills as context', async () => {
    const result = await importFixture('openhands-events.jsonl')
    expect(only(result).turns.map((turn) => [turn.before, turn.kind, turn.text])).toEqual([
      [0, 'context', '<EXTRA_INFO>docker skill</EXTRA_INFO>'],
      [1, 'context', 'result of a lost action'],
      [2, 'summary', 'ls and make ran; make fails.'],
      [3, 'user', 'Only explain.'],
    ])
    expect(result.files[0]).toMatchObject({
      damage: [{ line: 8, reason: 'orphan result of call t99' }],
      ignored: { ConversationStateUpdateEvent: 1, CondensationRequest: 1, PauseEvent: 1 },
    })
  })

  it('gives the same run from a list, and recovers a torn JSONL', async () => {
    const lines = readFileSync(fixturePath('openhands-events.jsonl'), 'utf8').trimEnd().split('\n')
    const whole = only(await importFixture('openhands-events.jsonl'))
    const list = only(await importText('a.json', `[\n${lines.join(',\n')}\n]`))
    expect(list.interactions.map(({ source, ...entry }) => entry)).toEqual(
      whole.interactions.map(({ source, ...entry }) => entry),
    )
    const torn = await importText(
      'a.jsonl',
      [...lines.slice(0, -1), '{}', (lines.at(-1) ?? '').slice(0, 60)].join('\n'),
    )
    expect(only(torn).interactions).toHaveLength(3)
    expect(torn.files[0]?.damage.map((entry) => entry.line)).toEqual([8, 17, 18])
  })

  it('refuses the state of a conversation and a single event file, and says what to import', async () => {
    const [event] = readFileSync(fixturePath('openhands-events.jsonl'), 'utf8').split('\n')
    const single = await importText('event-00001.json', JSON.stringify(JSON.parse(event ?? ''), null, 1))
    expect(single.files[0]?.error?.message).toMatch(/one event .* join the files of its events folder into one JSONL/)
    const state = await importText(
      'base_state.json',
      '{"id":"x","agent":{"llm":{"model":"m"}},"workspace":{},"stats":{}}',
    )
    expect(state.files[0]?.error).toMatchObject({ code: 'log-malformed' })
    expect(state.files[0]?.error?.message).toMatch(/state of an OpenHands conversation, it holds no event/)
  })
})

describe('OpenHands completion logs', () => {
  it('takes the run as it was before its calls were written out as text, and the response as its newest interaction', async () => {
    const run = only(await importFixture('openhands-completion.json'))
    expect(run).toMatchObject({
      format: 'openhands',
      system: 'S',
      task: 'Say hi.',
      interactions: [{ toolCalls: [{ id: 'k1' }], observations: [{ callId: 'k1', content: 'hi' }] }, { text: 'Done.' }],
    })
  })

  it('takes an execution result for an observation where only the text form is there', async () => {
    const { raw_messages: _, ...log } = JSON.parse(readFileSync(fixturePath('openhands-completion.json'), 'utf8'))
    const run = only(await importText('a.json', JSON.stringify(log, null, 1)))
    expect(run.interactions[0]?.observations).toMatchObject([{ content: 'EXECUTION RESULT of [terminal]:\nhi' }])
    expect(run.turns).toEqual([])
  })
})

describe('OpenHands DevAI steps', () => {
  it('makes a step one interaction, an empty environment a result, a null one none', async () => {
    const run = only(await importFixture('openhands-devai.json'))
    expect(run.interactions).toMatchObject([
      {
        reasoning: 'Start.',
        toolCalls: [{ name: 'command', arguments: 'Running command: ls' }],
        observations: [{ content: '' }],
      },
      { text: 'Nothing is there. Finished.', observations: [] },
    ])
    expect(run.turns).toMatchObject([{ before: 1, kind: 'user', text: 'Go on.' }])
  })
})

describe('real OpenHands logs', () => {
  itWithShared('count as INDEX.csv does, and each of the others is imported or refused by what it holds', async () => {
    const counts = async (name: string): Promise<unknown> => {
      const { files, trajectories } = await importFiles([shared(name)])
      return [files[0]?.format, trajectories[0]?.interactions.length ?? files[0]?.error?.code]
    }
    const logs = 'sdk-litellm_proxy__'
    expect(await counts('devai-39_Drug_Response_Prediction_SVM_GDSC_ML.json')).toEqual(['openhands', 34])
    expect(await counts('sdk-events.jsonl')).toEqual(['openhands', 2])
    expect(await counts('sdk-base_state.json')).toEqual(['openhands', 'log-malformed'])
    // A request of five model calls and its response.
    expect(await counts(`${logs}anthropic__claude-sonnet-4-20250514-1757015046.707.json`)).toEqual(['openhands', 6])
    expect(await counts(`${logs}deepseek__deepseek-chat-1757015076.651.json`)).toEqual(['openhands', 4])
    // Plain OpenAI chat messages of the whole run.
    expect(await counts('sdk-fncall-llm-message.json')).toEqual(['openai-chat', 6])
    expect(await counts('sdk-nonfncall-llm-message.json')).toEqual(['openai-chat', 4])
  })

  itWithShared('hold the same run as messages and as a completion without native calls', async () => {
    const log = only(await importFiles([shared('sdk-litellm_proxy__deepseek__deepseek-chat-1757015076.651.json')]))
    const list = only(await importFiles([shared('sdk-nonfncall-llm-message.json')]))
    const calls = (run: typeof log): unknown => run.interactions.map((entry) => [entry.text, entry.toolCalls])
    expect(calls(log)).toEqual(calls(list))
    expect(log.interactions.slice(0, 3).map((entry) => entry.observations)).toEqual(
      list.interactions.slice(0, 3).map((entry) => entry.observations),
    )
  })
})

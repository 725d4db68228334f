import {
  type Interaction,
  TRAJECTORY_SCHEMA_VERSION,
  type Trajectory,
  type Turn,
} from '../../src/trajectory/trajectory.ts'

const SOURCE = { file: 'made-in-the-test', index: 0 }

export function interactionOf(index: number, parts: Partial<Interaction> = {}): Interaction {
  return { index, actor: null, reasoning: '', text: '', toolCalls: [], observations: [], source: SOURCE, ...parts }
}

/** One shell call with its result. */
export function shellInteraction(index: number, command: string, result: string, reasoning = ''): Interaction {
  return interactionOf(index, {
    reasoning,
    toolCalls: [{ id: `call_${index}`, name: 'bash', arguments: JSON.stringify({ command }) }],
    observations: [{ callId: `call_${index}`, content: result, isError: false }],
  })
}

export function turnOf(before: number, kind: Turn['kind'], text: string): Turn {
  return { before, kind, text, source: SOURCE }
}

export function trajectoryOf(parts: Partial<Trajectory>): Trajectory {
  return {
    schemaVersion: TRAJECTORY_SCHEMA_VERSION,
    id: 'run-1',
    group: 'group-1',
    domain: 'made',
    format: 'made',
    system: '',
    task: '',
    interactions: [],
    turns: [],
    truncated: false,
    parent: null,
    source: SOURCE,
    ...parts,
  }
}

/** Seven shell steps, a summary-free history with one user turn and one actor: small enough to read as a view. */
export function repairTrajectory(): Trajectory {
  const log = Array.from({ length: 60 }, (_, i) => `tests/cart.test.js:${i + 10} expected 2 to equal ${i}`).join('\n')
  return trajectoryOf({
    system: 'You repair shops. Work in /srv/shop and never push.',
    task: 'The cart counts one item twice. Find out why, fix it, run the tests.',
    interactions: [
      shellInteraction(0, 'ls', 'README.md\nsrc\ntests', 'First I look around.'),
      shellInteraction(1, 'npm test', log, 'Which test fails?'),
      interactionOf(2, { actor: 'planner', text: 'The sum in src/cart.js looks wrong. I read it.' }),
      shellInteraction(3, 'cat src/cart.js', 'export const total = (items) => items.length + 1'),
      interactionOf(4, {
        text: 'Two calls at once.',
        toolCalls: [
          { id: 'a', name: 'edit', arguments: '{"path":"src/cart.js","from":" + 1","to":""}' },
          { id: 'b', name: 'bash', arguments: '{"command":"npm test"}' },
        ],
        observations: [
          { callId: 'a', content: 'edited', isError: false },
          { callId: 'b', content: 'no such file: node_modules', isError: true },
        ],
      }),
      shellInteraction(5, 'npm ci && npm test', '60 passed'),
    ],
    turns: [turnOf(3, 'user', 'Mind the currency \u{1f7e1} too.'), turnOf(6, 'user', 'Now write the changelog.')],
  })
}

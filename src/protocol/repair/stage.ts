/** One pass of a repair over the message list. Pure types. */
import type { History } from '../history.ts'
import type { Change } from './change.ts'
import type { Complaints } from './complaints.ts'
import type { WorkingList } from './working-list.ts'

export interface StageInput {
  /** The request around the list; its own messages are the input's. */
  readonly base: History
  readonly list: WorkingList
  readonly complaints: Complaints
  readonly danglingCalls: 'drop' | 'close'
}

export interface StageResult {
  readonly list: WorkingList
  /** Empty: the list is the one given. */
  readonly changes: readonly Change[]
}

export type Stage = (input: StageInput) => StageResult

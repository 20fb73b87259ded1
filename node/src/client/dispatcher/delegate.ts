// The user's dispatchers that stand in the engine's place behind a dispatcher, as its state sees them.

import type { Handler } from '../calls/handler_forms'
import type { DispatchOptions } from '../prepare/prepare'

/** Stands in the place of the engine behind a dispatcher. */
export interface Delegate {
  dispatch: (options: DispatchOptions, handler: Handler) => boolean
  close: () => Promise<unknown>
  destroy: (error: Error) => Promise<unknown>
  readonly stats: Record<string, unknown>
  readonly counts: Counts
}

export const COUNTS = ['connected', 'pending', 'running', 'size'] as const
export type Counts = Record<typeof COUNTS[number], number>

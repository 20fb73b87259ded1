// Pieces that were written to a stream and wait behind a write that is under way.

import type { Writable } from 'node:stream'

/** Those that a socket of the system would have taken by now: none of a stream that is corked. */
export function waitingPieces (stream: Writable): Buffer[] {
  const state = (stream as unknown as { _writableState: { corked: number; getBuffer: () => { chunk: Buffer }[] } })._writableState
  return state.corked > 0 ? [] : state.getBuffer().map(({ chunk }) => chunk)
}

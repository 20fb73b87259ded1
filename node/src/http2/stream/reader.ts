// Readers of bodies, as far as the ends of their streams need them.

import type { Readable } from 'node:stream'

/** Whether a reader that takes what comes has bytes to take, or has not got the end of a body that `isWhole`. */
export function isDueTo (reader: Pick<Readable, 'readableFlowing' | 'readableEnded' | 'readableLength' | 'listenerCount'> | null, isWhole: boolean): boolean {
  if (reader === null || (reader.readableFlowing !== true && reader.listenerCount('readable') === 0)) return false
  return reader.readableLength > 0 || (isWhole && !reader.readableEnded)
}

/** Before a stream is destroyed whose last bytes are not read: they are lost, and a pipeline that knew of their end would
 * wait for `end` in place of failing. */
export function dropEnd (stream: Pick<Readable, '_readableState'>): void {
  const state = stream._readableState as { ended: boolean; endEmitted: boolean; length: number } & typeof stream._readableState
  if (state.length > 0 && !state.endEmitted) state.ended = false
}

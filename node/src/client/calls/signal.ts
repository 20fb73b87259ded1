// Ends a request from outside: by an AbortSignal, or an emitter of `abort`.

import { RequestAbortedError } from '../../errors'

export type Signal = AbortSignal | NodeJS.EventEmitter

/** Calls `call` with the reason when the signal aborts, at once if it has; returns how to stop that. */
export function follow (signal: Signal, call: (reason: Error) => void): () => void {
  const listener = (): void => { call((signal as Partial<AbortSignal>).reason as Error | undefined ?? new RequestAbortedError()) }
  // As with undici: an emitter may say so too.
  if ((signal as Partial<AbortSignal>).aborted) {
    listener()
    return () => {}
  }
  if (!('addEventListener' in signal)) {
    signal.once('abort', listener)
    return () => { signal.removeListener('abort', listener) }
  }
  signal.addEventListener('abort', listener, { once: true })
  return () => { signal.removeEventListener('abort', listener) }
}

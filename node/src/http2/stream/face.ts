// The half of a server's stream that is of the compatible API.

import type { Headers } from '../fields'

/** The events that it needs of the stream. */
export interface Face {
  $onStreamTrailers: (trailers: Headers, raw: string[]) => void
  $onStreamAborted: () => void
  $onStreamDrain: () => void
  $onStreamTimeout: () => void
  $onStreamClosed: () => void
  /** The text of the trailers that were set until now. */
  $trailers: () => string
  /** Whether trailers were set, to which others may be added until the next turn. */
  readonly $hasTrailers: boolean
  /** Those trailers. */
  readonly $sentTrailers: Headers
  /** Whether the final head is one of the compatible API, whose trailers then go behind its body. */
  readonly $gaveHead: boolean
  /** Whether it has listeners. */
  readonly $isReceived: boolean
  /** The request that handlers have. */
  readonly $request: object
}

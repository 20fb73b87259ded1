// The services of a client's session to its streams.

import type { Machine } from './machines'

/** A session, as far as its streams need it. */
export interface StreamOwner<Stream> {
  readonly $machine: Machine | undefined
  readonly destroyed: boolean
  readonly $isStrict: boolean
  readonly localSettings: { initialWindowSize?: number | undefined }
  /** The code of its end: the peer's GOAWAY, or its destruction. */
  readonly $endCode: number
  /** The peer's GOAWAY had an error's code, so that no stream is reset beside it. */
  readonly $isLeft: boolean
  /** Something is to be sent at the end of this turn. */
  $plan: () => void
  /** Resets a stream of the machine. */
  $resetStream: (stream: number, code: number) => void
  /** The pieces of a stream are to be sent at the end of this turn. */
  $planBody: (stream: Stream) => void
  /** Both sides of a stream may have ended: after the next write. */
  $watchEnd: (stream: Stream) => void
  /** As `$watchEnd`, where nothing is left to be written but what is planned. */
  $watchReceived: (stream: Stream) => void
  $watchSent: (stream: Stream) => void
  $refresh: () => void
  /** Whether a header block is longer than its user, or nghttp2, lets it be. */
  $exceedsBlock: (text: string) => boolean
  /** Trailers are too long: their stream ends, and the session with its last one. */
  $failTrailers: (stream: Stream) => void
  /** A stream is gone. */
  $forget: (stream: Stream) => void
  /** The server serves the stream's origin no longer (RFC 9110 section 15.5.20). */
  $dropOrigin: (origin: string) => void
}

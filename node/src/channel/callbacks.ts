// The callbacks of the channel's users: of exchanges, of clients, and of the halves for servers and for streams.

import type { Failure } from '../errors/failures'
import type { Completion } from './codes'

/** The error of every exchange after the engine has ended. */
export const ENDED_FAILURE: Failure = {
  kind: 'ended',
  message: 'the engine of this thread has ended after a fault of its own, which stderr names; start the process or the worker again'
}

/** The error of an exchange that the engine has dropped by itself: its thread ends, or a task of it did. */
export const GONE_FAILURE: Failure = { kind: 'ended', message: 'the engine let go of the request after a fault of its own, which stderr names' }

/** The callbacks of an exchange. */
export interface ExchangeCallbacks {
  /** Its number on the channel; 0 before it is submitted and after it is over. */
  number: number
  /** It becomes a tunnel, if the peer agrees. */
  readonly leavesHttp?: boolean
  /** It starts on this connection; only if it is `WATCHED`. */
  onStarted: (connection: number) => void
  /** The final head; `fields` are names and values by turns, a zero between two. */
  onResponse: (status: number, fields: string, reason: string, version: number) => void
  /** The final head and all that follows it: a body, or none. */
  onWhole: (status: number, fields: string, reason: string, body: Buffer | undefined, version: number) => void
  onInterim: (status: number, fields: string, reason: string, version: number) => void
  /** A piece of the body. `credit`: its bytes are to be taken (`Bridge.take`). */
  onData: (chunk: Buffer, credit: boolean) => void
  /** The end of the response. Where `number` is not 0, the request's body goes on under it, until `onReleased`. */
  onEnd: (trailers: string) => void
  /** Nothing more is taken of a request's body that went on behind its response. */
  onReleased: () => void
  onFailed: (failure: Failure) => void
  /** The connection took `bytes` of the request's body. */
  onRoom: (bytes: number) => void
  /** It was cancelled, and the engine has dropped it. */
  onGone: () => void
}

/** The callbacks of a client beside its exchanges. */
export interface ConnectionListener {
  /** Events of its connections: a JSON text (connections.rs). */
  onConnectionEvents: (text: string) => void
  /** A name is to be looked up: a JSON text (lookup.rs). */
  onLookup: (ticket: number, text: string) => void
  /** A connection is to be made: a JSON text (dial.rs). */
  onDial: (ticket: number, text: string) => void
}

/** The channel's other half, for servers (`server/bridge.ts`), which takes its own completions. */
export interface ServerHalf {
  /** The entry at `at` of the completions. */
  complete: (code: Completion, at: number) => void
  /** Whether it is for the ticks behind another entry of this `turn`. */
  isBehindTicks: (code: Completion, at: number, turn: number) => boolean
  /** The engine is no more. */
  endAll: () => void
}

/** As `ServerHalf`, for streams that carry connections (`streams.ts`). */
export interface StreamHalf extends Omit<ServerHalf, 'isBehindTicks'> {
  /** Submissions are about to be published. */
  beforeFlush: () => void
  /** The engine was called, which may change connections. */
  afterCall: () => void
}

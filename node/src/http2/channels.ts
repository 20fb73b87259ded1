// The diagnostics channels of node's servers, for tracing tools. Without subscribers a request
// costs a test of a few flags.

import { channel } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Headers } from './fields'

const created = channel('http2.server.stream.created')
const started = channel('http2.server.stream.start')
const failed = channel('http2.server.stream.error')
const answered = channel('http2.server.stream.finish')
const closed = channel('http2.server.stream.close')
const requested = channel('http.server.request.start')
const responded = channel('http.server.response.finish')
const connected = channel('net.server.socket')
const listening = channel('tracing:net.server.listen:asyncEnd')
const listenFailed = channel('tracing:net.server.listen:error')

/** A server listens. The message that its `listen` was called is published by node. */
export function showListening (server: object): void { if (listening.hasSubscribers) listening.publish({ server }) }

/** A server cannot listen: its port is taken, for example. */
export function showListenError (server: object, error: Error): void {
  if (listenFailed.hasSubscribers) listenFailed.publish({ server, error })
}

export const showsSockets = (): boolean => connected.hasSubscribers

/** A connection came; its listeners are called next. */
export function showSocket (socket: object): void { if (connected.hasSubscribers) connected.publish({ socket }) }

/** Whether the end of streams is published, so that every stream needs one. */
export const showsCloses = (): boolean => closed.hasSubscribers

/** A stream came; its listeners are called next. */
export function showStream (stream: { readonly $headers: Headers }): void {
  if (created.hasSubscribers) created.publish({ stream, headers: stream.$headers })
  if (started.hasSubscribers) started.publish({ stream, headers: stream.$headers })
}

/** The final head of a stream is on its way. */
export function showHead (stream: object, headers: () => Headers | undefined, flags: number): void {
  if (answered.hasSubscribers) answered.publish({ stream, headers: headers(), flags })
}

export function showError (stream: object, error: Error): void {
  if (failed.hasSubscribers) failed.publish({ stream, error })
}

export function showClose (stream: object): void { if (closed.hasSubscribers) closed.publish({ stream }) }

/** A request of node:http came; its listeners are called next. */
export function showRequest (request: IncomingMessage, response: ServerResponse, socket: unknown, server: unknown): void {
  if (requested.hasSubscribers) requested.publish({ request, response, socket, server })
}

/** Reports the end of a response. */
export function showResponse (request: IncomingMessage, response: ServerResponse, socket: unknown, server: unknown): void {
  if (responded.hasSubscribers) responded.publish({ request, response, socket, server })
}

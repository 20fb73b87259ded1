// Hands a prepared request to the engine: with its body or before it, and on a stream where it leaves HTTP and the peer asks for that.

import type { Readable } from 'node:stream'
import { SubmissionFlag } from '../../channel/codes'
import { InformationalError } from '../../errors'
import type { DirectHop } from '../../fetch/call/hop'
import { Trace } from '../calls/channels'
import type { DirectRequest } from '../calls/direct_request'
import type { Exchange } from '../calls/exchange'
import { endStream } from '../prepare/body'
import { onStream, type DispatchOptions, type Made } from '../prepare/prepare'
import { Upload } from '../prepare/upload'
import type { Target } from './load'
import type { State } from './state'

export function submit (state: State, exchange: Exchange | DirectRequest | DirectHop, made: Made): void {
  const { target, head, body, headersTimeout, bodyTimeout, flags } = made
  state.goesTo(exchange, target)
  exchange.isForwarded = target.isForwarded
  exchange.blocks = (flags & SubmissionFlag.Blocks) !== 0
  state.bridge.submit(exchange, target.number, head, body, headersTimeout, bodyTimeout, flags)
  if (exchange.number === 0) return
  if (made.upload === null) {
    if (Buffer.isBuffer(made.body)) exchange.onSent(made.body)
    return exchange.onAllSent()
  }
  const upload = new Upload(state.bridge, exchange, made.upload, made.length, state.checked.strictContentLength, made.headersTimeout, state.behind)
  exchange.upload = upload
  // It runs when the request starts on a connection (`onStarted`). Where that is now, the first bytes go with the head, as
  // with undici: a server that answers a small body without reading it would else answer in front of it, and the connection
  // would be lost. A channel's subscribers see the head first.
  if (exchange.trace === null && target.load.isServed) void upload.run()
}

/**
 * Sends a CONNECT on a stream, an extended one for a WebSocket; where the peer does not take that, it is requested
 * over HTTP/1.1, from then on at once.
 */
export function submitOnStream (state: State, exchange: Exchange, made: Made): void {
  const { target, elsewhere } = made
  exchange.isOnStream = true
  exchange.webSocketKey = made.webSocketKey
  exchange.onDeclined = () => {
    if (elsewhere === null) return exchange.onSourceFailed(new InformationalError(NO_EXTENDED_CONNECT))
    target.declinesWebSocket = true
    exchange.isOnStream = false
    submit(state, exchange, { ...made, target: elsewhere() })
  }
  submit(state, exchange, { ...made, head: onStream(made.head), body: 'streaming' })
}

/** A request that leaves HTTP on HTTP/1.1; where the peer speaks HTTP/2 alone, it goes on a stream, from then on at once. */
export function submitLeaving (state: State, exchange: Exchange, made: Made, overStreams: () => Target): void {
  exchange.onNoHttp1 = () => {
    const target = overStreams()
    target.lacksHttp1 = true
    submitOnStream(state, exchange, { ...made, target, elsewhere: null })
  }
  submit(state, exchange, made)
}

/** undici's words, by which its fetch knows what it is. */
const NO_EXTENDED_CONNECT = 'HTTP/2: Extended CONNECT protocol not supported by server'

/**
 * Publishes a request to the diagnostics channels; its head gets the fields that subscribers add.
 */
export function traced (origin: string, options: DispatchOptions, made: Made): Trace {
  made.flags |= SubmissionFlag.Watched
  return new Trace(origin, options, made)
}

/** A source that fails before it is read fails the exchange; one that does not destroy itself at its end is destroyed there. */
export function watch (body: Readable, exchange: Exchange | DirectRequest): void {
  body.once('error', error => { exchange.abortBySource(error) })
  const { autoDestroy } = (body as { _readableState?: { autoDestroy?: boolean } })._readableState ?? {}
  if (autoDestroy !== true) body.once('end', () => { endStream(body) })
}

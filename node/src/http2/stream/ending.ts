// The end of a server's stream: by its exchange, by `close` or by `destroy`. Each order of events is that of
// node:http2.

import type { Duplex } from 'node:stream'
import type { Exchange } from '../../server/exchange'
import { afterNextTurn, later } from '../callbacks/later'
import type { Timer } from '../callbacks/timer'
import { showClose, showError } from '../channels'
import { ErrorCode, isAbort, streamError } from '../codes'
import type { ServerHttp2Session, SessionStream } from '../connection/session'
import type { AwaitedWrites } from './awaited_writes'
import type { Face } from './face'
import type { Intake } from './intake'
import { longEnd } from './lazy_duplex'
import type { Outgoing } from './outgoing'
import { dropEnd } from './reader'

/** A stream, as far as its end needs it. */
export interface EndingStream extends SessionStream, Pick<Duplex, 'emit' | 'errored' | 'on' | 'once' | 'push' | 'read' | 'readableEnded' | 'readableFlowing' | 'readableLength' | 'removeAllListeners' | 'resume' | 'writableFinished' | '_readableState' | '_writableState'> {
  readonly $exchange: Exchange
  readonly $intake: Intake
  readonly $outgoing: Outgoing
  readonly $face: Face | null
  readonly $timer: Timer | undefined
  readonly $writes: AwaitedWrites | undefined
  /** Its session, until it has left it. */
  $of: ServerHttp2Session | undefined
  rstCode: number
  readonly readable: boolean
  readonly destroyed: boolean
  /** Whether a reader gets the end of the request in the next turn. */
  readonly $endsLater: boolean
  /** Whether the Duplex is initialised. */
  readonly $isDuplex: boolean
  readonly $isAnswered: boolean
  $isClosed: boolean
  $isAborted: boolean
  /** Bytes of the answer were never given to the connection. */
  $isCut: boolean
  /** Its end was put behind the bytes that came before it. */
  $isEndRead: boolean
  $isGone: boolean
  /** The rest of the request is reset once all of the answer has gone. */
  $cutsRequest: boolean
  $flush: () => void
  setTimeout: (time: number) => unknown
}

/** The exchange has ended, with this code. */
export function onClosed (stream: EndingStream, code: number): void {
  if (stream.$exchange.timelineId !== 0) placeTimeline(stream)
  if (stream.destroyed) return
  // Behind the turn in which a reader gets its end.
  if (stream.$endsLater) return afterNextTurn(() => { onClosed(stream, code) })
  const isOrderly = code === ErrorCode.NoError && stream.$exchange.received && stream.$exchange.done
  if (!stream.$isEndRead && !isOrderly && stream.$isDue) {
    // The exchange's end is read a turn behind what came before it, however it came: a reader gets that first.
    stream.$isEndRead = true
    return later(() => { onClosed(stream, code) })
  }
  if (!stream.$isDuplex) return settleQuietly(stream, code)
  // One that failed, as by a write after its end, neither finishes nor ends any more.
  const hasFailed = stream.errored != null
  const { isCut } = stream.$exchange
  const finishes = stream._writableState.ending && !stream.writableFinished && !isCut
  if (code === ErrorCode.NoError && finishes && !hasFailed) return void stream.once('finish', () => { onClosed(stream, code) })
  if (code !== ErrorCode.NoError) dropEnd(stream)
  const wasClosed = stream.$isClosed
  if (!wasClosed) markClosed(stream, code)
  if (!stream.readable || code !== ErrorCode.NoError || hasFailed) return void stream.destroy()
  stream.on('end', () => { if (isCut) stream.destroy(); else maybeDestroy(stream) })
  // Unwanted bytes end as with node:http2; a late reader gets the error of the truncation.
  if (stream.$exchange.received || !stream.$intake.didRead) stream.$intake.onEnd()
  else {
    // One that its program has closed has the code that was given.
    if (!wasClosed) stream.rstCode = ErrorCode.Cancel
    stream.$intake.onCut(() => { stream.destroy() })
  }
  if (!stream.$intake.didRead && stream.readableFlowing === null) stream.resume()
  else stream.read(0)
}

/** An abort has no error, so the stream and the request have the timeline too. */
function placeTimeline (stream: EndingStream): void {
  stream.$exchange.withTimeline(stream)
  if (stream.$face !== null) stream.$exchange.withTimeline(stream.$face.$request)
}

/** The Duplex was never initialised, so only the compatible API gets an event. */
function settleQuietly (stream: EndingStream, code: number): void {
  stream.$isClosed = true
  stream.rstCode = code
  if (!stream.$isAnswered && !stream.$exchange.done) {
    stream.$isAborted = true
    stream.$isCut = stream.$outgoing.bytes > 0
    stream.$face?.$onStreamAborted()
  }
  leave(stream)
  stream.$face?.$onStreamClosed()
}

/** Takes a stream out of its session. */
function leave (stream: EndingStream): void {
  stream.$isGone = true
  stream.$timer?.stop()
  stream.$of?.$forget(stream)
  stream.$of = undefined
  showClose(stream)
}

/**
 * Marks the stream closed; `resets`: the peer gets a reset too. `atOnce`: bytes that the
 * connection has not taken are dropped.
 */
export function markClosed (stream: EndingStream, code: number, resets = false, atOnce = false): void {
  stream.$isClosed = true
  stream.rstCode = code
  if (code !== ErrorCode.NoError && stream.$endsLater) stream.$intake.dropEnd()
  stream.setTimeout(0)
  stream.removeAllListeners('timeout')
  const { ending } = stream._writableState
  if (!ending) {
    stream.$isAborted = true
    stream.emit('aborted')
    longEnd.call(stream)
  }
  if (!resets) return
  const finish = (): void => { reset(stream, code, atOnce) }
  if (!ending || stream.writableFinished || code !== ErrorCode.NoError || atOnce) finish()
  else stream.once('finish', finish)
}

function reset (stream: EndingStream, code: number, givesUp: boolean): void {
  stream.$flush()
  // The end of its connection ends it.
  if (stream.$of?.destroyed === true) return
  if (code !== ErrorCode.NoError || !stream.$exchange.headSent) return stream.$exchange.reset(code)
  // Without an error's code a cut answer would look like a whole one.
  const isCut = !stream.$exchange.done && (givesUp || stream._writableState.bufferedRequestCount > 0)
  if (isCut) return stream.$exchange.reset(ErrorCode.Cancel)
  stream.$exchange.end()
  stream.$cutsRequest = !stream.$intake.isWhole
  if (!stream.$cutsRequest) stream.$intake.release()
  if (stream.$exchange.pending === 0) cutRequest(stream)
}

/** Refuses the rest of a request: all of the answer has gone. */
export function cutRequest (stream: EndingStream): void {
  if (stream.$cutsRequest) stream.$exchange.reset(ErrorCode.NoError)
}

/** Implements `_destroy` of the Duplex: resets what is not whole, and gives the error that the stream ends with. */
export function destroy (stream: EndingStream, error: Error | null, done: (error?: Error | null) => void): void {
  dropEnd(stream)
  const session = stream.$of
  const ended = session?.goawayCode || session?.$endCode || ErrorCode.NoError
  let code = stream.$isClosed ? stream.rstCode : ended
  if (error != null) code = ended !== ErrorCode.NoError ? ended : isAbort(error) ? ErrorCode.Cancel : ErrorCode.Internal
  if (!stream.$isClosed) markClosed(stream, code, true, true)
  else if (stream.$exchange.headSent && !stream.$exchange.done) stream.$exchange.reset(code || ErrorCode.Cancel)
  const { $intake: intake } = stream
  const isLost = intake.holds || stream.readableLength > 0
  intake.drop()
  // A body that is read, or will be by the next turn, has no end where bytes of it are lost, or where it was cut and
  // no event says so.
  const isRead = intake.didRead || stream.readableFlowing !== null
  if (!isRead || (!isLost && (intake.isWhole || stream.$isAborted))) {
    stream.push(null)
    // A reader that pauses would see `close` alone, and a pipeline take that for the end that it waits for.
    if (isRead) stream.read(0)
  }
  stream.$writes?.end()
  // An error that was given may be that of other streams too.
  const failure = error ?? (code !== ErrorCode.NoError && code !== ErrorCode.Cancel ? stream.$exchange.withTimeline(streamError(code)) : null)
  leave(stream)
  if (failure !== null) showError(stream, failure)
  done(failure)
}

function maybeDestroy (stream: EndingStream): void {
  if (stream.writableFinished && !stream.readable && stream.$isClosed) stream.destroy()
}

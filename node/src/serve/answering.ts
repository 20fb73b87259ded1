// Sends a handler's response, whole, piece by piece, or from a file, and the error response of a
// handler that failed.

import { inspect, types } from 'node:util'
import { HttpVersion, ResponseFlag } from '../channel/codes'
import { AHEAD_BYTES_MAX } from '../server/ahead'
import { INTERNAL_ERROR } from '../server/bridge'
import type { Exchange } from '../server/exchange'
import { pairsOf, textOf, type TrailersInit } from '../fetch/headers/fields'
import { errorPage } from './error_page'
import { cachedFile } from './files/cached_file'
import { filePlanOf, planOf } from './files/file_plan'
import type { IdleRequests } from './idle'
import { BodyTooLargeError, type Incoming } from './incoming'
import type { Request } from '../fetch/request'
import type { Response } from '../fetch/faces'
import { streamOfFile } from './web/file_body'
import { encode, withoutField, type Encoded } from './web/response'
import { clearImmediate, setImmediate, setTimeout } from '../timers'

/** Bytes of an answer's body that may wait for the connection before its source does: this many times those of a response of
 * node:http2, because a source is asked by a promise for each piece. */
const PENDING_TIMES = 4
const PAYLOAD_TOO_LARGE = 413
const NO_CONTENT = 204
const NOT_MODIFIED = 304
/** Bytes of a piece of a body that is there whole. */
const PIECE_LENGTH = 256 * 1024
/** As `PIECE_LENGTH`, where responses hold so much that each of a thousand whose clients do not read is to hold little more. */
const SMALL_PIECE_LENGTH = 16 * 1024
/** How long a stream may rest behind the end of its client's side: clients that send a request and end their side, as `nc -N` does, get what
 * comes in smaller distances. */
const HALF_CLOSED_REST_SECONDS = 1
/** Fields that the engine refuses in trailers. */
const OF_HEADS = new Set(['connection', 'content-length', 'host', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'])
/** How long the stream of a request that has its answer waits for a reader. */
const SHOWN_MS = 1000

/** The sources of a body's pieces. */
type Source = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

export type Answered = Response | globalThis.Response

/** How failures of handlers are answered. */
interface FailureSettings {
  error?: ((error: unknown, request: globalThis.Request) => Answered | Promise<Answered>) | undefined
  development: boolean
}

/** Sends the answers of one server. `isHooks` of its methods: the answer is that of `error`, which is not called again. */
export class Answering {
  constructor (readonly settings: () => FailureSettings, private readonly receiver: object, private readonly idle: IdleRequests) {}

  /** Answers once `answer` is there; the common case costs no promise. */
  settle (incoming: Incoming, request: Request, answer: unknown): void {
    if (!isThenable(answer)) return this.answer(incoming, request, answer)
    const fail = (error: unknown): void => { this.fail(incoming, request, error) }
    try {
      answer.then(answer => {
        try {
          this.answer(incoming, request, answer)
        } catch (error) {
          fail(error)
        }
      }, fail)
    } catch (error) {
      // It is no promise of the language's.
      fail(error)
    }
  }

  answer (incoming: Incoming, request: Request, answer: unknown, isHooks = false): void {
    if (incoming.isLeft) return
    const { exchange } = incoming
    const encoded = withCookies(encode(answer), incoming.setCookies())
    const { status, reason, fields, body, source, file } = encoded
    incoming.isAnswered = true
    if (exchange.version < HttpVersion.Http2 && endsConnection(fields)) exchange.connection.isLast = true
    if (file !== null) {
      if (incoming.trailersToSend !== null || !this.sendCached(incoming, encoded)) void this.sendFile(incoming, request, encoded, isHooks)
      return
    }
    if (source !== null || incoming.trailersToSend !== null) return void this.stream(incoming, request, encoded, source ?? piecesOfWhole(body), isHooks)
    const pieces = body === null ? null : inPieces(incoming, encoded, body)
    if (pieces !== null) return void this.stream(incoming, request, pieces, pieces.source, isHooks)
    this.answerWhole(incoming, status, fields, body, reason)
  }

  /** The handler failed, or the answer of `error` did. */
  fail (incoming: Incoming, request: Request, error: unknown, isHooks = false): void {
    const { exchange, isLeft } = incoming
    if (incoming.fallsBackOn(error)) return
    if (exchange.closed && !isLeft) return
    if (!exchange.headSent) {
      incoming.trailersToSend = null
      // `error` may upgrade the request.
      incoming.isAnswered = false
    }
    const { error: hook, development } = this.settings()
    // An upgraded request has another owner, which goes on.
    const isCut = exchange.headSent || isLeft
    if (isCut && !isLeft) exchange.reset(INTERNAL_ERROR)
    const last = (error: unknown): void => {
      if (error instanceof BodyTooLargeError && !isCut) return exchange.answer(PAYLOAD_TOO_LARGE, '', null, ResponseFlag.Quiet)
      console.error(error)
      // It may have been upgraded by the hook.
      if (isCut || incoming.isLeft) return
      const page = development ? errorPage(error, exchange.field('accept')) : null
      this.leaveRest(incoming)
      exchange.answer(500, page?.fields ?? '', page?.body ?? null)
    }
    if (hook === undefined || isHooks) return last(error)
    const hooked = async (): Promise<void> => {
      const answer = await hook.call(this.receiver as never, error, request as unknown as globalThis.Request)
      if (!isCut) this.answer(incoming, request, answer, true)
    }
    hooked().catch(last)
  }

  /** Answers with a file that the system has in memory; false: it does not. */
  private sendCached (incoming: Incoming, encoded: Encoded): boolean {
    const { exchange } = incoming
    const found = exchange.closed ? null : cachedFile(encoded.file!.path)
    if (found === null || !exchange.takesWhole(found.bytes.length)) return false
    const { status, fields, part } = planOf(exchange, encoded, found)
    const body = part === null ? null : found.bytes.subarray(part.offset, part.length === null ? undefined : part.offset + part.length)
    this.answerWhole(incoming, status, fields, body)
    return true
  }

  /** Answers with a file, or with what the conditions of the request leave of it. */
  private async sendFile (incoming: Incoming, request: Request, encoded: Encoded, isHooks: boolean): Promise<void> {
    const { exchange } = incoming
    const fail = (error: unknown): void => { this.fail(incoming, request, error, isHooks) }
    try {
      const { status, fields, part } = await filePlanOf(exchange, encoded)
      if (part === null) this.answerWhole(incoming, status, fields, null)
      else if (incoming.trailersToSend !== null) await this.stream(incoming, request, { ...encoded, status, fields }, streamOfFile(part), isHooks)
      else {
        incoming.onFileFailedFor = fail
        this.leaveRest(incoming)
        exchange.answerFile(status, fields, part.path, part.offset, part.length)
      }
    } catch (error) {
      fail(error)
    }
  }

  /** Sends a body piece by piece, as fast as the client takes it. */
  private async stream (incoming: Incoming, request: Request, encoded: Encoded, source: Source, isHooks: boolean): Promise<void> {
    let pieces: AsyncIterator<Uint8Array> | null = null
    const leave = (): void => {
      const left = pieces
      pieces = null
      if (left !== null) void letGo(left)
    }
    try {
      pieces = source instanceof ReadableStream ? piecesOf(source) : source[Symbol.asyncIterator]()
      // A source that waits for something else than the client is ended with the exchange.
      incoming.onClosedFor = leave
      if (contentLengthOf(incoming.exchange, encoded) === null) this.boundRest(incoming)
      if (await this.pump(incoming, encoded, pieces)) pieces = null
    } catch (error) {
      this.fail(incoming, request, error, isHooks)
    }
    leave()
  }

  /** Sends the pieces; true: all of them. */
  private async pump (incoming: Incoming, encoded: Encoded, pieces: AsyncIterator<Uint8Array>): Promise<boolean> {
    const { exchange } = incoming
    if (exchange.closed) return false
    const { status, reason, fields } = encoded
    const length = contentLengthOf(exchange, encoded)
    let sent = 0
    let next = pieces.next()
    let piece = await soon(next)
    let first: Buffer | null = null
    if (incoming.trailersToSend === null) {
      // A body that is one piece is one message, as if it had not been a stream.
      if (piece !== null && piece.done !== true) {
        first = bytesOf(piece.value)
        next = pieces.next()
        piece = await soon(next)
      }
      if (piece?.done === true) {
        this.answerWhole(incoming, status, fields, first, reason)
        return true
      }
    }
    // A rejection without a waiter now is reported to the later waiter, if any.
    if (piece === null) Promise.resolve(next).catch(() => {})
    // The head is the whole answer: it is not one that ended early.
    if (exchange.isHead) {
      this.answerWhole(incoming, status, fields, null, reason)
      return false
    }
    exchange.respond(status, fields, 0, reason)
    if (first !== null) {
      sent += first.length
      exchange.write(first)
    }
    for (piece ??= await next; piece.done !== true; piece = await pieces.next()) {
      const bytes = bytesOf(piece.value)
      sent += bytes.length
      if (length !== null && sent > length) checkContentLength(length, sent)
      exchange.write(bytes)
      while (exchange.pending > PENDING_TIMES * exchange.pendingMax && !exchange.closed) {
        await new Promise<void>(resolve => { incoming.onRoomFor = resolve })
      }
      if (exchange.closed) return false
    }
    if (length !== null) checkContentLength(length, sent)
    exchange.end(await trailersOf(incoming.trailersToSend))
    this.leaveRest(incoming)
    return true
  }

  /** Sends an answer that is there whole: its length is that of its body, whatever `content-length` a program has copied from elsewhere. Only where no body is sent
   * the program says how long it would be (RFC 9110 section 8.6). */
  private answerWhole (incoming: Incoming, status: number, fields: string, body: Buffer | string | null, reason = ''): void {
    const { exchange } = incoming
    const keepsLength = body === null && (exchange.isHead || status === NO_CONTENT || status === NOT_MODIFIED)
    if (keepsLength) lengthIn(fields)
    // The server learns when a client has taken a long one.
    const isLong = body !== null && body.length > AHEAD_BYTES_MAX
    const isQuiet = incoming.giveUp() && !isLong
    // The engine discards the rest of a request itself where nothing else is to be learned of it.
    if (!isQuiet) this.leaveRest(incoming)
    exchange.answer(status, keepsLength ? fields : withoutLength(fields), body, isQuiet ? ResponseFlag.Quiet : 0, reason)
  }

  /** The answer is given: a body without a reader is declined, in front of a head that can say over HTTP/1.1 that the connection closes. Otherwise its client, and on HTTP/1.1 a
   * request behind it, would wait for ever. A stream that a program has only looked at may still be read, as by a request that waits for a connection; one that is
   * read, for as long as bytes of it come or are read. */
  private leaveRest (incoming: Incoming): void {
    const { exchange } = incoming
    if (!exchange.hasBody) return
    if (!incoming.isReading) {
      incoming.giveUp()
      return exchange.received ? incoming.release() : exchange.decline()
    }
    if (exchange.received) return
    if (!incoming.isOnlyShown) return this.idle.watchRest(incoming)
    setTimeout(() => {
      if (incoming.isOnlyShown) exchange.decline()
      else this.idle.watchRest(incoming)
    }, SHOWN_MS).unref()
  }

  /** Ends a stream without a length that rests behind the end of its client's side. A client that is gone looks as one that waits,
   * until something is written to it. */
  private boundRest (incoming: Incoming): void {
    incoming.onHalfClosedFor = () => { this.idle.watch(incoming, HALF_CLOSED_REST_SECONDS) }
    if (incoming.isHalfClosed) incoming.onHalfClosedFor()
  }
}

/** An answer that sets these cookies too. */
function withCookies (encoded: Encoded, cookies: string[]): Encoded {
  if (cookies.length === 0) return encoded
  const fields = cookies.map(cookie => `set-cookie\0${cookie}`).join('\0')
  return { ...encoded, fields: encoded.fields === '' ? fields : `${encoded.fields}\0${fields}` }
}

/** Whether an answer is the last of its connection. */
function endsConnection (fields: string): boolean {
  return fields.includes('connection\0') && /(?:^|\0)connection\0[^\0]*\bclose\b/i.test(fields)
}

const CONTENT_LENGTH = 'content-length\0'

/** Where the fields of an answer say its content-length; -1: nowhere. */
function lengthAt (fields: string): number {
  const at = fields.indexOf(CONTENT_LENGTH)
  // Most say none; elsewhere it is a part of another name.
  return at < 0 || at === 0 || fields[at - 1] === '\0' ? at : -1
}

function withoutLength (fields: string): string {
  return lengthAt(fields) < 0 ? fields : withoutField(fields, 'content-length')
}

/** The content-length in the fields of an answer; null: none. The engine refuses a head in which it is no number, and its client gets a 500 that the program does
 * not learn of: here the handler gets an error. */
function lengthIn (fields: string): number | null {
  if (lengthAt(fields) < 0) return null
  // As a value the name is no length: `access-control-expose-headers: content-length`.
  const values = pairsOf(fields).filter(([name]) => name === 'content-length').map(([, value]) => value)
  if (values.length === 0) return null
  const text = values.join(', ')
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(Number(text))) throw new TypeError(`the content-length of the answer is ${inspect(text)}; it must be one number of bytes`)
  return Number(text)
}

/** The content-length that an answer says of the body which is sent; null: none. */
function contentLengthOf (exchange: Exchange, { status, fields }: Encoded): number | null {
  // RFC 9110 section 6.4.1: these have no body, whatever length they say.
  return exchange.isHead || status === NO_CONTENT || status === NOT_MODIFIED ? null : lengthIn(fields)
}

/**
 * The engine cuts a response whose length differs from the content-length that its head has said; here the handler gets an
 * error.
 */
function checkContentLength (printed: number, bytes: number): void {
  if (bytes !== printed) throw new RangeError(`the content-length of the answer is ${printed}, and its body has ${bytes} bytes`)
}

/** Trailers as they cross the channel. */
async function trailersOf (trailers: TrailersInit | null): Promise<string> {
  if (trailers === null) return ''
  const fields = textOf(await (typeof trailers === 'function' ? trailers() : trailers), null)
  const [wrong] = pairsOf(fields).find(([name]) => OF_HEADS.has(name)) ?? []
  if (wrong !== undefined) throw new TypeError(`${wrong} cannot be among the trailers: it frames or routes a message (RFC 9110 section 6.5.1)`)
  return fields
}

/** A long body as pieces: where the signal of its request is listened to, because one that is given whole is over for its handler at once, and
 * would not abort while it is sent; and where other responses hold so much that a copy of all of it has no room. Null: it goes whole. */
function inPieces ({ exchange, isWatched }: Incoming, encoded: Encoded, whole: Buffer | string): Encoded & { source: Source } | null {
  const { length } = whole
  const hasRoom = exchange.takesWhole(length)
  if (exchange.isHead || (hasRoom && !(isWatched && length > PIECE_LENGTH))) return null
  const body = bytesOf(whole)
  const fields = withoutLength(encoded.fields)
  const all = `${CONTENT_LENGTH}${body.length}${fields === '' ? '' : `\0${fields}`}`
  return { ...encoded, fields: all, body: null, source: piecesOfWhole(body, hasRoom ? PIECE_LENGTH : SMALL_PIECE_LENGTH) }
}

async function * piecesOfWhole (body: Buffer | string | null, pieceLength = PIECE_LENGTH): AsyncGenerator<Uint8Array, void, undefined> {
  if (body === null || body.length === 0) return
  const bytes = bytesOf(body)
  for (let at = 0; at < bytes.length; at += pieceLength) yield bytes.subarray(at, at + pieceLength)
}

/** Cancels the rest of a source; its own failure is ignored. */
async function letGo (pieces: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await pieces.return?.(undefined)
  } catch {}
}

/**
 * The value if it is there before the loop turns; `null`: not yet, and the head must not wait for
 * it.
 */
function soon<T> (promise: Promise<T>): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const turn = setImmediate(resolve, null)
    // Most sources have it: one that was asked again would find the turn's callback for nothing.
    promise.then(value => {
      clearImmediate(turn)
      resolve(value)
    }, reject)
  })
}

/** A stream's pieces. What a generator would do only once the piece is there that it waits for, `return`
 * does at once: it cancels the stream. */
function piecesOf (stream: ReadableStream<Uint8Array>): AsyncIterator<Uint8Array> {
  const reader = stream.getReader()
  return {
    next: () => reader.read() as Promise<IteratorResult<Uint8Array>>,
    return: async () => {
      await reader.cancel(new DOMException('The response is not wanted any more', 'AbortError'))
      return { done: true, value: undefined }
    }
  }
}

function bytesOf (piece: unknown): Buffer {
  if (typeof piece === 'string') return Buffer.from(piece)
  if (ArrayBuffer.isView(piece)) return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
  if (types.isArrayBuffer(piece)) return Buffer.from(piece)
  throw new TypeError(`a piece of the body is a value of the type ${typeof piece}; it must be a Uint8Array, another view, an ArrayBuffer or a string`)
}

function isThenable (value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

// Files as responses: opens and checks them, and sends them as fast as the connection takes them.

import { close, fstat, open, read, type Stats } from 'node:fs'
import { ResponseFlag } from '../../channel/codes'
import { checkObject, ErrorCode, invalidType, invalidValue, payloadForbidden, plain, streamError } from '../codes'
import { textOf, type Headers } from '../fields'
import { checkAnswerable, finalHeaders, isBodyless, type AnsweredStream, type RespondOptions } from './respond'

/** The part of a file to send. */
interface Range { offset: number; length: number }

/** A stream, as far as files need it. */
interface FileStream extends Omit<AnsweredStream, 'headersSent'> {
  headersSent: boolean
  destroy: (error?: Error) => unknown
  close: (code?: number) => void
  $endForFile: () => void
  $finishBody: () => void
  $send: (chunk: Buffer, done: () => void) => void
}

/** The options of `respondWithFile` and `respondWithFD`. `Stream`: the class of streams. */
export interface FileResponseOptions<Stream> extends RespondOptions {
  /** Called with the file's status before the head is sent; it may change the head, and of a descriptor the range, and false answers nothing. Default: none. */
  statCheck?: (this: Stream, stat: Stats, headers: Headers, range?: Range) => boolean | void
  /** Called when the file cannot be opened or is none. Default: the stream is reset with INTERNAL_ERROR. */
  onError?: (error: Error) => void
  /** The first byte to send, from 0. Default: 0. */
  offset?: number
  /** Bytes to send at most; -1: to the end of the file. Default: -1. */
  length?: number
}

/** Bytes of a file that are read at once. */
const PIECE_BYTES = 64 * 1024

/** Checks what both ways to send a file have in common; returns the final headers. */
function prepare (stream: AnsweredStream, given: Headers | undefined, options: FileResponseOptions<never> | undefined): Headers {
  checkObject(options, 'options')
  for (const name of ['offset', 'length'] as const) {
    if (options?.[name] !== undefined && typeof options[name] !== 'number') throw invalidValue(`options.${name}`, options[name])
  }
  if (options?.statCheck !== undefined && typeof options.statCheck !== 'function') {
    throw invalidValue('options.statCheck', options.statCheck)
  }
  if (options?.waitForTrailers) stream.$waitsForTrailers = true
  const headers = finalHeaders(given, options)
  const status = headers[':status'] as number
  if (isBodyless(status) || stream.headRequest) throw payloadForbidden(status)
  return headers
}

export function respondWithFile<Stream extends FileStream> (stream: Stream, path: string | Buffer | URL, given?: Headers, options?: FileResponseOptions<Stream>): void {
  checkAnswerable(stream)
  const headers = prepare(stream, given, options)
  const fail = (error: Error): void => {
    const onError = options?.onError
    if (onError) onError(error)
    else stream.destroy(error)
  }
  open(path, 'r', (error, fd) => {
    if (error !== null) return fail(error)
    const drop = (): void => { close(fd, () => {}) }
    if (stream.destroyed || stream.closed) return drop()
    fstat(fd, (error, stat) => {
      const wrong = error ?? wrongFile(stat, options)
      if (wrong !== null) {
        drop()
        return fail(wrong)
      }
      if (stream.destroyed || stream.closed) {
        drop()
        return void stream.destroy(plain('ERR_HTTP2_INVALID_STREAM'))
      }
      const range = rangeOf(options)
      if (options?.statCheck?.call(stream, stat, headers) === false || stream.headersSent) return drop()
      if (stat.isFile()) {
        const rest = stat.size - range.offset
        range.length = range.length < 0 ? rest : Math.min(rest, range.length)
        // node:http2 sends such a length, and clients reset the stream.
        if (range.length < 0) {
          drop()
          stream.headersSent = true
          stream.$endForFile()
          return stream.close(ErrorCode.Protocol)
        }
        headers['content-length'] = range.length
      }
      send(stream, fd, headers, range, drop)
    })
  })
}

/** The range of the options; NaN stands for the default, as with node. */
function rangeOf ({ offset = 0, length = -1 }: Pick<FileResponseOptions<never>, 'offset' | 'length'> = {}): Range {
  return { offset: Number.isNaN(offset) ? 0 : offset, length: Number.isNaN(length) ? -1 : length }
}

function wrongFile (stat: Stats, options: FileResponseOptions<never> | undefined): Error | null {
  if (stat.isFile()) return null
  if (stat.isDirectory()) return plain('ERR_HTTP2_SEND_FILE')
  return options?.offset !== undefined || options?.length !== undefined ? plain('ERR_HTTP2_SEND_FILE_NOSEEK') : null
}

export function respondWithDescriptor<Stream extends FileStream> (stream: Stream, given: unknown, headers?: Headers, options?: FileResponseOptions<Stream>): void {
  checkAnswerable(stream)
  checkObject(options, 'options')
  const fd = typeof given === 'object' && given !== null ? (given as { fd?: unknown }).fd : given
  if (typeof fd !== 'number') throw invalidType('fd', 'of type number or an instance of FileHandle', given)
  const final = prepare(stream, headers, options)
  const { offset, length } = rangeOf(options)
  // As with node:http2, which cuts off what is behind the point for descriptors alone.
  const range = { offset: Math.trunc(offset), length: Math.trunc(length) }
  // No system has such a descriptor.
  if (fd < 0) return void stream.destroy(streamError(ErrorCode.Internal))
  if (options?.statCheck === undefined) return send(stream, fd, final, range, () => {})
  fstat(fd, (error, stat) => {
    if (error !== null) return void stream.destroy(error)
    if (stream.destroyed || stream.closed) return void stream.destroy(plain('ERR_HTTP2_INVALID_STREAM'))
    if (options.statCheck!.call(stream, stat, final, range) === false || stream.headersSent) return
    send(stream, fd, final, range, () => {})
  })
}

/** Sends the head and the range; `drop` is called when the file is not needed any more. */
function send (stream: FileStream, fd: number, headers: Headers, range: Range, drop: () => void): void {
  // No file has such a part; node:http2 says its length, and clients reset the stream.
  if (!Number.isSafeInteger(range.offset) || !Number.isSafeInteger(range.length)) {
    drop()
    return stream.close(ErrorCode.Protocol)
  }
  let text
  try {
    text = textOf(headers, ':status', stream.$isStrict)
  } catch (error) {
    drop()
    return void stream.destroy(error as Error)
  }
  stream.sentHeaders = headers
  stream.$keepHead(headers[':status'] as number, text, ResponseFlag.NoDate)
  stream.$endForFile()
  let at = range.offset > 0 ? range.offset : 0
  let left = range.length < 0 ? Infinity : range.length
  /** A pipe has no positions. */
  let seeks = range.offset >= 0
  const done = (): void => {
    drop()
    stream.$finishBody()
  }
  const more = (): void => {
    if (stream.closed || stream.destroyed) return drop()
    if (left <= 0) return done()
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, left))
    read(fd, piece, 0, piece.length, seeks ? at : null, (error, bytes) => {
      if (stream.closed || stream.destroyed) return drop()
      if (error?.code === 'ESPIPE' && seeks && at === 0) {
        seeks = false
        return more()
      }
      if (error !== null) {
        drop()
        return stream.close(ErrorCode.Internal)
      }
      if (bytes === 0) return done()
      at += bytes
      left -= bytes
      stream.$send(piece.subarray(0, bytes), more)
    })
  }
  more()
}

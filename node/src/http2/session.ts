// A connection of HTTP/2 or HTTP/3, as programs of node:http2 know it.

import { EventEmitter } from 'node:events'
import { getDefaultSettings, getPackedSettings, type Settings } from 'node:http2'
import type { Connection } from '../server/connection'
import {
  checkBytes, checkCall, checkInteger, checkNumber, checkObject, checkText, invalidCharacter, invalidType, outOfRange, plain, sessionError
} from './codes'
import { later } from './later'
import { sessionSocket, type Socket } from './socket'
import type { ServerHttp2Stream } from './stream'
import { Timer } from './timer'

const NO_ERROR = 0
const INTERNAL_ERROR = 2
/** NGHTTP2_SESSION_SERVER. */
const SERVER = 0
const STREAM_ID_MAX = 2 ** 32 - 1
/** Bytes of an ALTSVC or ORIGIN frame that fit every peer's frame. */
const FRAME_BYTES_MAX = 16_382
const QUOTABLE = /^[\x09\x20-\x5b\x5d-\x7e\x80-\xff]*$/

/** The server's end of what a session tells. */
export interface Owner extends EventEmitter {
  readonly settings: Settings
}

export class ServerHttp2Session extends EventEmitter {
  rawSocket: Socket | undefined
  /** With which code it was ended by this side; 0: it was not. */
  endCode = NO_ERROR
  readonly type = SERVER
  goawayCode = NO_ERROR
  goawayLastStreamID = 0
  private readonly streams = new Set<ServerHttp2Stream>()
  private proxy: Socket | undefined
  private isClosed = false
  private isDestroyed = false
  private isOver = false
  private isTold = false
  private error: Error | undefined
  private timer: Timer | undefined
  private lastStreamID = 0

  constructor (private readonly connection: Connection, readonly server: Owner, socket: Socket) {
    super()
    this.rawSocket = socket
    this.on('error', error => { this.server.emit('sessionError', error, this) })
    process.nextTick(() => { if (!this.isDestroyed) this.emit('connect', this, this.rawSocket) })
  }

  get encrypted (): boolean { return this.connection.encrypted }
  get alpnProtocol (): string { return this.connection.alpn ?? 'h2c' }
  get connecting (): boolean { return false }
  get closed (): boolean { return this.isClosed }
  get destroyed (): boolean { return this.isDestroyed }
  get pendingSettingsAck (): boolean { return false }
  get socket (): Socket | undefined { return this.isTold ? undefined : (this.proxy ??= sessionSocket(this)) }
  get originSet (): string[] | undefined {
    if (!this.encrypted || this.isDestroyed) return undefined
    const { servername, remoteAddress, remotePort } = this.connection
    return [new URL(`https://${servername ?? remoteAddress}:${remotePort}`).origin]
  }

  get localSettings (): Settings {
    if (this.isDestroyed) return {}
    return Object.assign({}, getDefaultSettings(), this.server.settings)
  }
  /** What a client that changed nothing has: the engine keeps the peer's settings to itself. */
  get remoteSettings (): Settings { return this.isDestroyed ? {} : Object.assign({}, getDefaultSettings()) }

  get state (): object {
    if (this.isDestroyed) return {}
    return {
      effectiveLocalWindowSize: 65_535, effectiveRecvDataLength: 0, nextStreamID: 2, localWindowSize: 65_535,
      lastProcStreamID: this.lastStreamID, remoteWindowSize: 65_535, outboundQueueSize: 0,
      deflateDynamicTableSize: 4096, inflateDynamicTableSize: 4096
    }
  }

  // Its streams.

  add (stream: ServerHttp2Stream): void {
    this.streams.add(stream)
    this.lastStreamID = stream.id
    this.refresh()
  }

  forget (stream: ServerHttp2Stream): void {
    this.streams.delete(stream)
    if (this.isClosed && !this.isDestroyed && this.streams.size === 0) setImmediate(() => { this.maybeDestroy() })
  }

  private maybeDestroy (): void {
    if (this.isClosed && this.streams.size === 0) this.destroy()
  }

  // What users do to it.

  settings (settings: Settings, callback?: (error: Error | null, settings: Settings, duration: number) => void): void {
    this.check()
    checkObject(settings, 'settings')
    getPackedSettings(settings)
    if (callback === undefined) return
    checkCall(callback, 'callback')
    process.nextTick(callback, plain('ERR_HTTP2_SETTINGS_CANCEL'))
  }

  ping (payload?: unknown, callback?: unknown): boolean {
    this.check()
    if (typeof payload === 'function') [payload, callback] = [undefined, payload]
    if (payload) {
      checkBytes(payload, 'payload')
      if (payload.byteLength !== 8) throw plain('ERR_HTTP2_PING_LENGTH')
    }
    checkCall(callback, 'callback')
    const sent = payload ?? Buffer.alloc(8)
    const { connection } = this
    const isSent = !this.isClosed && connection.ping(time => { callback(null, time, sent) })
    if (!isSent) process.nextTick(callback, plain('ERR_HTTP2_PING_CANCEL'), 0, sent)
    return isSent
  }

  goaway (code = NO_ERROR, lastStreamID = 0, data?: NodeJS.ArrayBufferView): void {
    this.check()
    if (data !== undefined) checkBytes(data, 'opaqueData')
    checkNumber(code, 'code')
    checkNumber(lastStreamID, 'lastStreamID')
    if (code === NO_ERROR) this.connection.shutDown()
    else this.connection.abort(code)
  }

  close (callback?: () => void): void {
    if (this.isClosed || this.isDestroyed) return
    this.isClosed = true
    if (typeof callback === 'function') this.once('close', callback)
    this.connection.shutDown()
    this.maybeDestroy()
  }

  destroy (error: Error | number = NO_ERROR, code?: number): void {
    if (this.isDestroyed) return
    let reason: Error | undefined
    if (typeof error === 'number') {
      code = error
      reason = code === NO_ERROR ? undefined : sessionError(code)
    } else if (error != null) {
      reason = error
      code ??= INTERNAL_ERROR
    }
    this.isDestroyed = true
    this.error = reason
    this.endCode = code ?? NO_ERROR
    this.timer?.stop()
    this.removeAllListeners('timeout')
    for (const stream of [...this.streams]) stream.destroy(reason)
    if (this.isOver) later(() => { this.tellClosed() })
    else if (this.isClosed && reason === undefined) this.connection.shutDown()
    else this.connection.abort(this.endCode)
  }

  setLocalWindowSize (size: number): void {
    this.check()
    checkInteger(size, 'windowSize', 0, 2 ** 31 - 1)
  }

  setNextStreamID (id: number): void {
    this.check()
    checkNumber(id, 'id')
    if (id <= 0 || id > STREAM_ID_MAX) throw outOfRange('id', `> 0 and <= ${STREAM_ID_MAX}`, id)
  }

  altsvc (alt: string, of?: unknown): void {
    this.check()
    let origin = ''
    if (typeof of === 'string') {
      origin = originOf(of)
      if (origin === 'null') throw plain('ERR_HTTP2_ALTSVC_INVALID_ORIGIN')
    } else if (typeof of === 'number') {
      if (of >>> 0 !== of || of === 0) throw outOfRange('originOrStream', '> 0 and < 2 ** 32', of)
    } else if (of !== undefined) {
      const given = (of as { origin?: unknown } | null)?.origin
      if (typeof given !== 'string') throw invalidType('originOrStream', 'a string, a number, a URL or an object', of)
      if (given === 'null' || given === '') throw plain('ERR_HTTP2_ALTSVC_INVALID_ORIGIN')
      origin = given
    }
    checkText(alt, 'alt')
    if (!QUOTABLE.test(alt)) throw invalidCharacter('alt')
    if (alt.length + origin.length > FRAME_BYTES_MAX) throw plain('ERR_HTTP2_ALTSVC_LENGTH')
  }

  origin (...origins: unknown[]): void {
    this.check()
    let bytes = 0
    for (const given of origins) {
      const origin = typeof given === 'string' ? originOf(given) : (given as { origin?: unknown } | null)?.origin
      checkText(origin, 'origin')
      if (origin === 'null') throw plain('ERR_HTTP2_INVALID_ORIGIN')
      bytes += origin.length
    }
    if (bytes > FRAME_BYTES_MAX) throw plain('ERR_HTTP2_ORIGIN_LENGTH')
  }

  setTimeout (time: number, callback?: () => void): this {
    if (this.isDestroyed) return this
    this.timer = Timer.set(this.timer, time, callback, this, () => { if (!this.isDestroyed) this.emit('timeout') })
    return this
  }
  /** A sign of life. */
  refresh (): void { this.timer?.refresh() }

  ref (): void { this.rawSocket?.ref() }
  unref (): void { this.rawSocket?.unref() }

  private check (): void { if (this.isDestroyed) throw plain('ERR_HTTP2_INVALID_SESSION') }

  // What becomes of the connection.

  /** `told` is called when all has been told. */
  onConnectionClosed (told: () => void): void {
    this.isOver = true
    this.isClosed = true
    this.once('close', told)
    // What the same batch has told of its streams comes first.
    later(() => {
      if (this.isDestroyed) this.tellClosed()
      else this.destroy()
    })
  }

  /** Once: the connection's end and the last stream's may both bring it. */
  private tellClosed (): void {
    if (this.isTold) return
    const socket = this.rawSocket
    this.rawSocket = undefined
    this.isTold = true
    socket?.gone()
    if (this.error !== undefined) this.emit('error', this.error)
    this.emit('close')
  }
}

/** The origin of a URL; throws what node does for a text that is none. */
function originOf (text: string): string { return new URL(text).origin }

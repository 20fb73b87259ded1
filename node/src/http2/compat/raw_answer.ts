// An answer that a program writes by hand to the socket of a request: a whole message of HTTP/1.1, which goes as the answer of
// its exchange on every version.

import { HttpVersion, ResponseFlag } from '../../channel/codes'
import type { Exchange } from '../../server/exchange'
import { asked } from '../callbacks/asked'
import { ErrorCode } from '../codes'
import type { Socket, SocketBytes } from '../connection/socket'
import { Chunks } from '../../syntax/chunks'
import { END_OF_HEAD, HEAD_LENGTH_MAX, REASON_AT } from './upgrade'

const SWITCHING = 101
/** Statuses of answers without a body (RFC 9110 section 6.4.1). */
const BODILESS = new Set([204, 304])
/** Fields of the connection (RFC 9113 section 8.2.2). */
const OF_CONNECTIONS = new Set(['connection', 'keep-alive', 'proxy-connection', 'upgrade'])

/** How the end of a body is found: behind its length in bytes, behind the last chunk, or with the end of the socket. */
type Framing = { left: number } | { chunks: Chunks } | null

export class RawAnswer implements SocketBytes {
  readonly isUnread = false
  private head: string | null = ''
  private framing: Framing = null
  private waiting: ((error?: Error) => void)[] = []

  /** `over`: the message is whole, and the socket is that of the connection again. */
  constructor (private readonly exchange: Exchange, private readonly socket: Socket, private readonly over: () => void) {
    socket.$carry(this)
  }

  /** The body of the request is its reader's. */
  read (): void {}

  write (chunk: Buffer, done: (error?: Error) => void): void {
    try {
      const body = this.head === null ? chunk : this.takeHead(this.head + chunk.toString('latin1'))
      if (body.length > 0) this.takeBody(body)
    } catch (error) {
      return done(error as Error)
    }
    if (this.exchange.hasRoom) done()
    else this.waiting.push(asked('WRITEWRAP', done))
  }

  /** Sends the head once it is whole, and interim ones in front of it; returns what stands behind it. */
  private takeHead (text: string): Buffer {
    const end = text.indexOf(END_OF_HEAD)
    const [first = '', ...lines] = text.slice(0, end === -1 ? text.length : end).split('\r\n')
    const status = Number(/^HTTP\/1\.[01] (\d{3})( |$)/.exec(first)?.[1])
    const isBegun = first.length < REASON_AT && end === -1
    if ((Number.isNaN(status) && !isBegun) || status === SWITCHING || text.length > HEAD_LENGTH_MAX && end === -1) {
      throw new TypeError(`what is written to the socket of a request begins with ${JSON.stringify(first.slice(0, 40))}; it must be an answer of HTTP/1.1`)
    }
    this.head = text
    if (end === -1) return Buffer.alloc(0)
    const rest = text.slice(end + END_OF_HEAD.length)
    const fields = lines.map(line => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()] as [string, string])
    if (status < 200) {
      this.exchange.sendInformational(status, this.textOf(fields))
      return rest === '' ? this.startAgain() : this.takeHead(rest)
    }
    this.head = null
    this.respond(status, first.slice(REASON_AT), fields)
    return Buffer.from(rest, 'latin1')
  }

  private startAgain (): Buffer {
    this.head = ''
    return Buffer.alloc(0)
  }

  /** Fields as they cross the channel: those of the connection are the engine's on a stream. */
  private textOf (fields: [string, string][]): string {
    const spells = this.exchange.version < HttpVersion.Http2
    const kept = fields.filter(([name]) => name !== '' && name.toLowerCase() !== 'transfer-encoding' && (spells || !OF_CONNECTIONS.has(name.toLowerCase())))
    return kept.map(([name, value]) => `${spells ? name : name.toLowerCase()}\0${value}`).join('\0')
  }

  private respond (status: number, reason: string, fields: [string, string][]): void {
    const { exchange } = this
    const valueOf = (wanted: string): string | undefined => fields.find(([name]) => name.toLowerCase() === wanted)?.[1]
    const length = valueOf('content-length')
    const isChunked = /\bchunked\b/i.test(valueOf('transfer-encoding') ?? '')
    const hasBody = !exchange.isHead && !BODILESS.has(status)
    this.framing = !hasBody ? { left: 0 } : isChunked ? { chunks: new Chunks() } : length === undefined ? null : { left: Number(length) }
    // The end of such a body is that of its connection.
    if (this.framing === null && valueOf('connection') === undefined) fields.push(['Connection', 'close'])
    const isEmpty = this.framing !== null && 'left' in this.framing && this.framing.left === 0
    exchange.respond(status, this.textOf(fields), ResponseFlag.NoDate | (isEmpty ? ResponseFlag.End : 0), exchange.version < HttpVersion.Http2 ? reason : '')
    if (isEmpty) this.over()
  }

  private takeBody (bytes: Buffer): void {
    const { framing, exchange } = this
    if (framing === null) return exchange.write(bytes)
    if ('left' in framing) {
      const piece = bytes.subarray(0, framing.left)
      framing.left -= piece.length
      exchange.write(piece)
    } else framing.chunks.take(bytes, piece => { exchange.write(piece) })
    if ('left' in framing ? framing.left > 0 : !framing.chunks.isOver) return
    exchange.end()
    this.over()
  }

  finish (done: () => void): void {
    this.end()
    done()
  }

  /** The connection of HTTP/1.1 ends behind it. What is no whole head answers nothing. */
  private end (): void {
    if (this.head !== null) return this.exchange.reset(ErrorCode.Cancel)
    this.exchange.end()
    // The end of the connection does not wait for the rest of the request.
    this.exchange.decline()
    if (this.exchange.version < HttpVersion.Http2) this.socket.$of.shutDown()
  }

  /** Sends what was written and an end behind it, as a socket of the system does: the end of a body that has no other. */
  leave (): void {
    if (this.framing !== null || !this.exchange.headSent) return this.exchange.reset(ErrorCode.Cancel)
    this.end()
  }

  onRoom (): void { if (this.exchange.hasRoom) for (const done of this.waiting.splice(0)) done() }
}

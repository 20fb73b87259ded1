// A connection of HTTP/1.1 that leaves HTTP: the socket that listeners of `upgrade` get. What they write
// begins with the head of an answer, as on a socket of node's; from a 101 on its bytes are theirs.

import { apart } from '../ring'
import { Flags } from '../server/border'
import type { Exchange, ExchangeEars } from '../server/exchange'
import { aborted } from './codes'
import { Intake } from './intake'
import { Socket } from './socket'

/** Bytes that may wait behind the connection before a writer waits too. */
const AHEAD_BYTES_MAX = 64 * 1024
/** Characters of a head that is written in pieces. */
const HEAD_LENGTH_MAX = 64 * 1024
const CANCEL = 8
const END_OF_HEAD = '\r\n\r\n'

export class UpgradeSocket extends Socket implements ExchangeEars {
  private readonly intake: Intake
  /** What was written of the head; `null`: it has gone. */
  private head: string | null = ''
  private waiting: ((error?: Error) => void)[] = []

  constructor (private readonly exchange: Exchange) {
    super(exchange.connection, () => { exchange.reset(CANCEL) })
    this.intake = new Intake(exchange, true)
    exchange.owner = exchange.ears = this
  }

  override _read (): void { this.intake.read(this) }

  override _write (chunk: Buffer, _encoding: unknown, done: (error?: Error) => void): void {
    const body = this.head === null ? chunk : this.writeHead(chunk)
    if (body === undefined) return done(new TypeError('a head of HTTP/1.1 must be written before anything else'))
    if (body.length > 0) this.exchange.write(body)
    if (this.exchange.pending <= AHEAD_BYTES_MAX) done()
    else this.waiting.push(done)
  }

  /** What follows the head in a piece; undefined: it is none. */
  private writeHead (chunk: Buffer): Buffer | undefined {
    const text = this.head! + chunk.toString('latin1')
    const end = text.indexOf(END_OF_HEAD)
    if (end === -1) {
      this.head = text
      return text.length > HEAD_LENGTH_MAX ? undefined : Buffer.alloc(0)
    }
    const [first = '', ...lines] = text.slice(0, end).split('\r\n')
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1]
    if (status === undefined) return undefined
    this.head = null
    const fields = lines.map(line => {
      const colon = line.indexOf(':')
      return `${line.slice(0, colon).trim().toLowerCase()}\0${line.slice(colon + 1).trim()}`
    })
    this.exchange.respond(Number(status), fields.join('\0'), Flags.NoDate)
    return Buffer.from(text.slice(end + END_OF_HEAD.length), 'latin1')
  }

  override _final (done: () => void): void {
    this.exchange.end()
    done()
  }

  onData (chunk: Buffer): void {
    this.refresh()
    this.intake.onData(chunk)
  }
  onEnd (): void { this.intake.onEnd() }
  onRoom (): void {
    if (this.exchange.pending <= AHEAD_BYTES_MAX) for (const done of this.waiting.splice(0)) done()
  }
  onClosed (): void {
    this.gone()
    // Destroyed before: whoever wrote hears of it, and nobody else.
    for (const done of this.waiting.splice(0)) apart(() => { done(aborted()) })
  }
}

/** Whether a request of HTTP/1.1 asks for something else than HTTP (RFC 9110 section 7.8). */
export function asksToLeave (exchange: Exchange): boolean {
  const wanted = exchange.field('connection')
  return exchange.version < 20 && exchange.field('upgrade') !== undefined && wanted !== undefined && /\bupgrade\b/i.test(wanted)
}

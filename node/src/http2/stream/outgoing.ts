// Gathers a stream's head and body pieces of one turn. They are sent when the turn ends, or when
// the body does: then the whole response is one message.

import { getDefaultHighWaterMark } from 'node:stream'
import { types } from 'node:util'
import { apart } from '../../channel/ring'
import type { Exchange } from '../../server/exchange'
import { ResponseFlag } from '../../channel/codes'
import { nextTick } from '../../timers'

/** From this many bytes on a writer must wait, which only a Duplex does. */
const GATHERED_BYTES_MAX = getDefaultHighWaterMark(false)

/** Streams to flush at the end of this turn. */
let waiting: Outgoing[] = []
function sendAll (): void {
  const all = waiting
  waiting = []
  for (const outgoing of all) apart(() => { outgoing.flush() })
}

export class Outgoing {
  private status = 0
  /** The fields of the final head, until it goes. */
  private fields: string | null = null
  private flags = 0
  private pieces: Buffer[] = []
  /** Bytes of the pieces that wait. */
  bytes = 0
  private isPlanned = false

  constructor (private readonly exchange: Exchange) {}

  get hasHead (): boolean { return this.fields !== null }

  keepHead (status: number, fields: string, flags: number): void {
    this.status = status
    this.fields = fields
    this.flags = flags
    this.plan()
  }

  /** Takes a piece of the body; false: so much waits that the writer must learn of it. */
  gather (piece: Buffer): boolean {
    if (this.bytes + this.exchange.pending + piece.length >= Math.min(GATHERED_BYTES_MAX, this.exchange.pendingMax)) return false
    this.pieces.push(piece)
    this.bytes += piece.length
    this.plan()
    return true
  }

  private plan (): void {
    if (this.isPlanned) return
    this.isPlanned = true
    if (waiting.push(this) === 1) nextTick(sendAll)
  }

  /** Takes the pieces out, to be written in another way. */
  take (): Buffer[] {
    const { pieces } = this
    this.pieces = []
    this.bytes = 0
    return pieces
  }

  /** Sends what waits. */
  flush (): void {
    this.isPlanned = false
    const { fields, exchange } = this
    if (fields !== null) {
      this.fields = null
      exchange.respond(this.status, fields, this.flags)
    }
    if (this.bytes > 0) exchange.write(joined(this.take()))
  }

  /** Sends what waits and the rest of the body, which ends it. */
  finish (rest: Buffer | string | null, flags: number): void {
    const { fields, exchange } = this
    let body = rest
    if (this.bytes > 0) {
      const pieces = this.take()
      if (rest !== null) pieces.push(asBytes(rest))
      body = joined(pieces)
    }
    if (fields !== null) {
      this.fields = null
      exchange.answer(this.status, fields, body, this.flags & ~ResponseFlag.End | ResponseFlag.NoLength | flags)
    } else if (body === null) exchange.end()
    else exchange.write(asBytes(body), true)
  }
}

function asBytes (body: Buffer | string): Buffer { return typeof body === 'string' ? Buffer.from(body) : body }
function joined (pieces: Buffer[]): Buffer { return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces) }

/** Whether a piece may be written, in this encoding. */
export function isBody (chunk: unknown, encoding: unknown): boolean {
  return (typeof chunk === 'string' || types.isUint8Array(chunk)) && (!encoding || encoding === 'utf8' || Buffer.isEncoding(encoding as string))
}

/** The bytes or text of an answer; undefined: the long way says what is wrong with it. */
export function asBody (chunk: unknown, encoding: BufferEncoding | undefined): Buffer | string | undefined {
  if (!isBody(chunk, encoding)) return undefined
  if (typeof chunk === 'string') return encoding === 'utf8' ? chunk : Buffer.from(chunk, encoding)
  if (Buffer.isBuffer(chunk)) return chunk
  if (types.isUint8Array(chunk)) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  return undefined
}

// undici's diagnostics channels: subscribers receive every request in undici's form, and may add
// fields before it is sent. Without subscribers a request costs a test of eight flags.

import { SubmissionFlag } from '../../channel/codes'
import { AsyncResource } from 'node:async_hooks'
import { channel, type Channel } from 'node:diagnostics_channel'
import { Head, rawFields, uncheckedTextOf, type HeaderValue } from '../prepare/head'

const created = channel('undici:request:create')
const headSent = channel('undici:client:sendHeaders')
const chunkSent = channel('undici:request:bodyChunkSent')
const bodySent = channel('undici:request:bodySent')
const chunkReceived = channel('undici:request:bodyChunkReceived')
const answered = channel('undici:request:headers')
const ended = channel('undici:request:trailers')
const failed = channel('undici:request:error')

/** Whether any channel has a subscriber. A later subscriber receives later requests. */
export function isWatched (): boolean {
  return created.hasSubscribers || headSent.hasSubscribers || chunkSent.hasSubscribers ||
    bodySent.hasSubscribers || chunkReceived.hasSubscribers || answered.hasSubscribers || ended.hasSubscribers || failed.hasSubscribers
}

/** A request that is checked and not sent; its head is `method\0path\0authority` and `\0name\0value`
 * per field. */
interface Unsent { head: string; length: number | null; flags: number }

interface RequestFacts {
  origin?: string | URL
  body?: unknown
  idempotent?: boolean
  blocking?: boolean
  reset?: boolean
  upgrade?: boolean | string | null
  servername?: string
}

/** A request as undici's channels show it. */
class PublishedRequest {
  readonly origin: string
  readonly protocol: string
  readonly method: string
  readonly path: string
  readonly host: string
  readonly headers: string[]
  readonly body: unknown
  readonly contentLength: number | null
  readonly contentType: string | null
  readonly idempotent: boolean
  readonly blocking: boolean
  readonly reset: boolean | null
  readonly upgrade: boolean | string | null
  readonly servername: string | null
  completed = false
  aborted = false

  constructor (origin: string, asked: RequestFacts, unsent: Unsent) {
    const [method, path, host, ...fields] = unsent.head.split('\0')
    this.origin = origin
    this.protocol = origin.slice(0, origin.indexOf(':') + 1)
    this.method = method!
    this.path = path!
    this.host = host!
    this.headers = []
    let type: string | null = null
    for (let at = 0; at < fields.length; at += 2) {
      // The length of the body is no field of the caller's.
      if (fields[at] !== 'content-length') this.headers.push(fields[at]!, fields[at + 1]!)
      if (fields[at]!.toLowerCase() === 'content-type') type = fields[at + 1]!
    }
    this.contentType = type
    this.body = asked.body ?? null
    this.contentLength = unsent.length
    this.idempotent = asked.idempotent ?? ['GET', 'HEAD', 'QUERY'].includes(this.method)
    this.blocking = asked.blocking ?? this.method !== 'HEAD'
    this.reset = asked.reset ?? null
    this.upgrade = asked.upgrade || null
    this.servername = asked.servername ?? null
  }

  /** Adds a field, by the rules for a caller's; until the request is sent. */
  addHeader (key: string, value: HeaderValue): this {
    const head = new Head(null)
    head.add(key, value)
    this.headers.push(...head.fields.split('\0').slice(1))
    return this
  }
}

/** Publishes the events of one request. */
export class Trace {
  /** The async context of the request, in which its subscribers are called whatever brings the event. */
  private readonly scope = new AsyncResource('TRUNKLINE_TRACE')
  private readonly request: PublishedRequest
  private readonly endsConnection: boolean
  /** Events that wait until the request is on a connection. */
  private held: (() => void)[] | null = []

  /** Shows the request, whose head gets what subscribers add. */
  constructor (origin: string, asked: RequestFacts, unsent: Unsent) {
    this.endsConnection = (unsent.flags & SubmissionFlag.EndsConnection) !== 0
    this.request = new PublishedRequest(origin, asked, unsent)
    created.publish({ request: this.request })
    const { method, path, host, headers, contentLength } = this.request
    const sent = contentLength === null ? headers : [...headers, 'content-length', String(contentLength)]
    unsent.head = uncheckedTextOf(method, path, host, sent.map(part => `\0${part}`).join(''), sent.length / 2)
  }

  /** Reports its start on a connection; again when it is sent again. */
  onStarted (socket: object): void {
    if (headSent.hasSubscribers) {
      const { method, path, host, headers, upgrade } = this.request
      let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`
      if (!upgrade) text += `connection: ${this.endsConnection || method === 'CONNECT' ? 'close' : 'keep-alive'}\r\n`
      for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`
      this.publish(headSent, { headers: text, socket })
    }
    const { held } = this
    this.held = null
    for (const report of held ?? []) report()
  }

  onSent (chunk: unknown): void {
    if (chunkSent.hasSubscribers) this.report(() => { this.publish(chunkSent, { chunk }) })
  }

  onAllSent (): void { this.report(() => { this.publish(bodySent, {}) }) }

  private publish (to: Channel, what: object): void {
    this.scope.runInAsyncScope(() => { to.publish({ request: this.request, ...what }) })
  }

  /** Publishes an event of the body, which comes behind those of the head. */
  private report (what: () => void): void {
    if (this.held === null) what()
    else this.held.push(what)
  }

  onReceived (chunk: Buffer): void {
    if (chunkReceived.hasSubscribers) this.publish(chunkReceived, { chunk })
  }

  /** `fields` are names and values by turns, a zero between two. */
  onHead (statusCode: number, fields: string, statusText: string): void {
    if (!answered.hasSubscribers) return
    this.publish(answered, { response: { statusCode, headers: buffers(fields), statusText } })
  }

  onEnd (trailers: string): void {
    this.request.completed = true
    if (ended.hasSubscribers) this.publish(ended, { trailers: buffers(trailers) })
  }

  onError (error: Error): void {
    this.publish(failed, { error })
    this.request.aborted = true
  }
}

function buffers (fields: string): Buffer[] {
  return rawFields(fields).map(field => Buffer.from(field as string, 'latin1'))
}

// One connection of a server, of any version.

import type { ServerBorder } from './border'
import type { Listener } from './listener'

/** CANCEL of RFC 9113 section 7. */
const CANCEL = 8

export class Connection {
  /** Whoever is told of it keeps here what is theirs. */
  owner: unknown = null
  /** Exchanges that are open. */
  open = 0
  closed = false
  /** Who waits for the peer to say that it is there. */
  private waiting: ((ms: number) => void)[] | null = null
  private askedAt = 0
  private said: string[] | undefined

  /** `text`: both addresses, then what TLS agreed on, a zero between two. */
  constructor (
    private readonly border: ServerBorder,
    readonly listener: Listener,
    readonly number: number,
    /** 11, 20 or 30. */
    readonly version: number,
    private readonly text: string
  ) {}

  private get parts (): string[] { return (this.said ??= this.text.split('\0')) }
  get remoteAddress (): string { return this.parts[0] ?? '' }
  get remotePort (): number { return Number(this.parts[1] ?? 0) }
  get remoteFamily (): 'IPv4' | 'IPv6' { return this.remoteAddress.includes(':') ? 'IPv6' : 'IPv4' }
  get localAddress (): string { return this.parts[2] ?? '' }
  get localPort (): number { return Number(this.parts[3] ?? 0) }
  get encrypted (): boolean { return this.parts.length > 4 }
  /** `TLSv1.2` or `TLSv1.3`. */
  get tlsProtocol (): string | null { return this.parts[4] ?? null }
  /** What ALPN chose. */
  get alpn (): string | null { return this.parts[5] || null }
  /** The host that the client asked for. */
  get servername (): string | null { return this.parts[6] || null }

  /** Takes no more requests, and ends when those that are open have (GOAWAY; `connection: close`). */
  shutDown (): void { if (!this.closed) this.border.shutDown(this.number) }
  /** Asks whether the peer is there; `done` gets how long the answer took. False: only HTTP/2 has
   * such a question. Those that are asked before an answer are one. */
  ping (done: (ms: number) => void): boolean {
    if (this.closed || this.version !== 20) return false
    if (this.waiting === null) {
      this.waiting = []
      this.askedAt = performance.now()
      this.border.ping(this.number)
    }
    this.waiting.push(done)
    return true
  }

  /** What the border tells. */
  ponged (): void {
    const { waiting } = this
    this.waiting = null
    const ms = performance.now() - this.askedAt
    for (const done of waiting ?? []) done(ms)
  }

  /** Ends at once. */
  abort (code: number = CANCEL): void { if (!this.closed) this.border.abort(this.number, code) }
}

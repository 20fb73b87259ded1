// The events of a server that its API handles.

import type { Connection } from './connection'
import type { Exchange } from './exchange'

/** A client's ClientHello: host name and protocols. */
export interface Hello { ticket: number; servername: string | undefined; protocols: string[] }

/** Why a handshake failed: a number of `node/native/server/bridge.rs`, the client's alert, and words; the code of node:tls for a
 * certificate that is not accepted. */
export interface FailedHandshake { kind: number; alert: number; text: string; refusal: string | null; error?: Error | undefined }

/** The callbacks of a server. */
export interface ListenerCallbacks {
  onRequest: (exchange: Exchange) => void
  /** Whether requests have listeners now. Where they have none, as behind a `once`, the next one waits for the ticks of the last. */
  hasListeners?: () => boolean
  /** A handshake is done, and its version is known. */
  onConnection?: (connection: Connection) => void
  /** With `acceptEvents`: the version of a connection is known that was reported with the version 1. */
  onIdentified?: (connection: Connection) => void
  /** The last event of a connection. */
  onConnectionClosed?: (connection: Connection) => void
  /**
   * A client under TLS has no ALPN, and HTTP/1.1 is not offered: its bytes are the bodies of an
   * exchange. Its connection was reported with the version 0.
   */
  onUnnegotiated?: (exchange: Exchange) => void
  /** With `handsOverRefusals`: a request of HTTP/1.1 broke a rule. The bodies of the exchange are the bytes of its
   * connection, on which the answer is written. */
  onRefused?: (exchange: Exchange, refused: { code: string; status: number; packet: Buffer; parsed: number }) => void
  /** A connection ends because its peer broke a rule: a number of nghttp2's errors, a code of llhttp. */
  onBroken?: (connection: Connection, error: number, code: string) => void
  /** The transport of a connection failed, with a code of node:net: before its exchanges end. */
  onFailed?: (connection: Connection, code: string) => void
  /** A TLS handshake failed; the connection says where from, and is closed. */
  onHandshakeFailed?: (failure: FailedHandshake, connection: Connection) => void
  /** With `asks`: a handshake waits for `choose` or `refuse`. */
  onClientHello?: (hello: Hello, connection: Connection) => void
  /** With `reportsSecrets`: a line of a key log, of a connection whose handshake is under way. */
  onSecret?: (line: string, connection: Connection) => void
  /** Another process serves on its sockets: it accepts no more, and is to be closed. */
  onHandedOver?: () => void
  /** After `close` or `destroy`: nothing of it is left. */
  onClosed?: () => void
}

// Handshakes that failed, by the codes that node:tls has for them.

import { ALERTS } from '../errors'
import type { HandshakeFailure } from '../server/listener'

/** Codes by the numbers of `node/native/desk.rs`. */
const CODES: Record<number, string> = {
  1: 'ERR_TLS_HANDSHAKE_TIMEOUT',
  2: 'ECONNRESET',
  3: 'ERR_SSL_WRONG_VERSION_NUMBER',
  4: 'ERR_SSL_UNSUPPORTED_PROTOCOL',
  5: 'ERR_SSL_NO_SHARED_CIPHER',
  6: 'ERR_SSL_NO_APPLICATION_PROTOCOL',
  // Node closes the connection of a client that it does not admit without a word.
  8: 'ECONNRESET'
}
const OF_ALERTS = 7

/** The error of `tlsClientError`. */
export function handshakeError ({ kind, alert, text, error }: HandshakeFailure): Error {
  if (error !== undefined) return error
  const code = kind === OF_ALERTS ? `ERR_SSL_${ALERTS[alert] ?? 'TLSV1_ALERT'}` : CODES[kind] ?? 'ERR_SSL_HANDSHAKE_FAILURE'
  return Object.assign(new Error(text), { code })
}

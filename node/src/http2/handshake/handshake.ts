// Failed handshakes, by the error codes of node:tls.

import { HandshakeFailure } from '../../channel/codes'
import { alertName } from '../../errors/failures'
import type { FailedHandshake } from '../../server/callbacks'
import { OPENSSL, ofOpenSsl } from '../codes'

const CODES: Record<number, string> = {
  [HandshakeFailure.Timeout]: 'ERR_TLS_HANDSHAKE_TIMEOUT',
  [HandshakeFailure.Gone]: 'ECONNRESET',
  [HandshakeFailure.NotTls]: 'ERR_SSL_WRONG_VERSION_NUMBER',
  [HandshakeFailure.CleartextRequest]: 'ERR_SSL_HTTP_REQUEST',
  [HandshakeFailure.CleartextConnect]: 'ERR_SSL_HTTPS_PROXY_REQUEST',
  [HandshakeFailure.Version]: 'ERR_SSL_UNSUPPORTED_PROTOCOL',
  [HandshakeFailure.Cipher]: 'ERR_SSL_NO_SHARED_CIPHER',
  [HandshakeFailure.Protocol]: 'ERR_SSL_NO_APPLICATION_PROTOCOL',
  // Node closes the connection of a client that it does not admit without a word.
  [HandshakeFailure.Certificate]: 'ECONNRESET'
}

/** The error of `tlsClientError`. */
export function handshakeError ({ kind, alert, text, error }: FailedHandshake): Error {
  if (error !== undefined) return error
  const code = kind === HandshakeFailure.Alert ? `${OPENSSL}${alertName(alert) ?? 'TLSV1_ALERT'}` : CODES[kind] ?? 'ERR_SSL_HANDSHAKE_FAILURE'
  return Object.assign(new Error(text), { code, ...ofOpenSsl(code) })
}

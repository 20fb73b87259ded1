// Failed handshakes, by the error codes of node:tls.

import { HandshakeFailure as Reason } from '../../channel/codes'
import { ALERTS } from '../../errors'
import type { HandshakeFailure } from '../../server/listener'

const CODES: Record<number, string> = {
  [Reason.Timeout]: 'ERR_TLS_HANDSHAKE_TIMEOUT',
  [Reason.Gone]: 'ECONNRESET',
  [Reason.NotTls]: 'ERR_SSL_WRONG_VERSION_NUMBER',
  [Reason.Version]: 'ERR_SSL_UNSUPPORTED_PROTOCOL',
  [Reason.Cipher]: 'ERR_SSL_NO_SHARED_CIPHER',
  [Reason.Protocol]: 'ERR_SSL_NO_APPLICATION_PROTOCOL',
  // Node closes the connection of a client that it does not admit without a word.
  [Reason.Certificate]: 'ECONNRESET'
}

/** The error of `tlsClientError`. */
export function handshakeError ({ kind, alert, text, error }: HandshakeFailure): Error {
  if (error !== undefined) return error
  const code = kind === Reason.Alert ? `ERR_SSL_${ALERTS[alert] ?? 'TLSV1_ALERT'}` : CODES[kind] ?? 'ERR_SSL_HANDSHAKE_FAILURE'
  return Object.assign(new Error(text), { code })
}

// Failed handshakes, by the error codes of node:tls.

import { HandshakeFailure } from '../../channel/codes'
import { alertName, hasNewNames } from '../../errors/failures'
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
  [HandshakeFailure.KeyExchange]: 'ERR_SSL_NO_SUITABLE_KEY_SHARE',
  [HandshakeFailure.Signature]: 'ERR_SSL_NO_SUITABLE_SIGNATURE_ALGORITHM',
  [HandshakeFailure.Protocol]: 'ERR_SSL_NO_APPLICATION_PROTOCOL',
  [HandshakeFailure.Unexpected]: 'ERR_SSL_UNEXPECTED_MESSAGE',
  [HandshakeFailure.Malformed]: 'ERR_SSL_LENGTH_MISMATCH',
  [HandshakeFailure.TooLong]: hasNewNames ? 'ERR_SSL_DATA_LENGTH_TOO_LONG' : 'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  [HandshakeFailure.Undecryptable]: 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
  [HandshakeFailure.NoCertificate]: 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE',
  // Node closes the connection of a client whose certificate it does not trust without a word.
  [HandshakeFailure.Certificate]: 'ECONNRESET'
}

/** The error of `tlsClientError`. */
export function handshakeError ({ kind, alert, text, error }: FailedHandshake): Error {
  if (error !== undefined) return error
  const code = kind === HandshakeFailure.Alert ? `${OPENSSL}${alertName(alert) ?? 'TLSV1_ALERT'}` : CODES[kind] ?? 'ERR_SSL_HANDSHAKE_FAILURE'
  return Object.assign(new Error(text), { code, ...ofOpenSsl(code) })
}

// Handshakes that failed, by the codes that node:tls has for them.

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
/** What OpenSSL calls the alerts of RFC 8446 section 6 that clients send. */
const ALERTS: Record<number, string> = {
  40: 'SSLV3_ALERT_HANDSHAKE_FAILURE',
  42: 'SSLV3_ALERT_BAD_CERTIFICATE',
  43: 'SSLV3_ALERT_UNSUPPORTED_CERTIFICATE',
  44: 'SSLV3_ALERT_CERTIFICATE_REVOKED',
  45: 'SSLV3_ALERT_CERTIFICATE_EXPIRED',
  46: 'SSLV3_ALERT_CERTIFICATE_UNKNOWN',
  47: 'SSLV3_ALERT_ILLEGAL_PARAMETER',
  48: 'TLSV1_ALERT_UNKNOWN_CA',
  49: 'TLSV1_ALERT_ACCESS_DENIED',
  50: 'TLSV1_ALERT_DECODE_ERROR',
  51: 'TLSV1_ALERT_DECRYPT_ERROR',
  70: 'TLSV1_ALERT_PROTOCOL_VERSION',
  71: 'TLSV1_ALERT_INSUFFICIENT_SECURITY',
  80: 'TLSV1_ALERT_INTERNAL_ERROR',
  90: 'TLSV1_ALERT_USER_CANCELLED'
}

/** The error of `tlsClientError`. */
export function handshakeError ({ kind, alert, text, error }: HandshakeFailure): Error {
  if (error !== undefined) return error
  const code = kind === OF_ALERTS ? `ERR_SSL_${ALERTS[alert] ?? 'TLSV1_ALERT'}` : CODES[kind] ?? 'ERR_SSL_HANDSHAKE_FAILURE'
  return Object.assign(new Error(text), { code })
}

// Certificates and keys as the options of node:tls give them.

import type { SecureContextOptions } from 'node:tls'
import type { Identity } from '../server/listener'
import { notProvided } from './codes'

/** The first of one or several. */
function first (given: unknown): unknown { return Array.isArray(given) ? given[0] as unknown : given }

function pem (given: unknown): string {
  const text = typeof given === 'object' && given !== null && 'pem' in given ? (given as { pem: unknown }).pem : given
  return Buffer.isBuffer(text) || ArrayBuffer.isView(text) ? Buffer.from(text as Buffer).toString() : String(text)
}

/** The identity that a context shows; undefined: the options name none. */
export function identityOf (options: SecureContextOptions): Identity | undefined {
  if (options.pfx !== undefined) throw notProvided('a certificate in a PFX file: give cert and key in PEM')
  if (options.passphrase !== undefined) throw notProvided('a key with a passphrase: give it decrypted')
  const cert = first(options.cert)
  const key = first(options.key)
  if (cert === undefined || key === undefined) return undefined
  return { cert: pem(cert), key: pem(key) }
}

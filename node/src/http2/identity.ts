// Certificates and keys as the options of node:tls give them.

import { createPrivateKey } from 'node:crypto'
import type { SecureContextOptions } from 'node:tls'
import type { Identity } from '../server/listener'
import { notProvided } from './codes'

/** Options of node:tls by which a server says whom it admits, and how, with what is there instead. The
 * engine does not know them: taken in silence they would admit others than the program says. */
const REFUSED: Record<string, string> = {
  requestCert: 'certificates of clients are not asked for',
  ca: 'certificates of clients are not asked for; intermediate certificates of the server go behind its own in cert',
  crl: 'certificates of clients are not asked for',
  allowPartialTrustChain: 'certificates of clients are not asked for',
  SNICallback: 'use addContext for each name',
  ALPNCallback: 'allowHTTP1 says what is offered',
  pskCallback: 'give cert and key',
  ciphers: 'the suites of TLS 1.2 and 1.3 are the engine\'s: forward secret, with AEAD',
  sigalgs: 'the algorithms are the engine\'s',
  ecdhCurve: 'the groups are the engine\'s',
  dhparam: 'the groups are the engine\'s',
  secureOptions: 'TLS 1.2 and 1.3 are what there is',
  secureProtocol: 'TLS 1.2 and 1.3 are what there is'
}
/** What there is is no less than these ask for. */
const OLD_VERSIONS = new Set<unknown>([undefined, null, 'TLSv1', 'TLSv1.1', 'TLSv1.2'])

/** Throws where the options ask for more than there is. */
function checkPolicy (options: SecureContextOptions): void {
  const given = options as Record<string, unknown>
  for (const [name, instead] of Object.entries(REFUSED)) {
    if (given[name] != null && given[name] !== false) throw notProvided(`the option ${name} is not taken: ${instead}`)
  }
  if (!OLD_VERSIONS.has(given.minVersion)) throw notProvided(`minVersion is ${String(given.minVersion)}; it must be TLSv1.2 or older: TLS 1.2 and 1.3 are offered`)
  if (given.maxVersion != null && given.maxVersion !== 'TLSv1.3') throw notProvided(`maxVersion is ${String(given.maxVersion)}; it must be TLSv1.3: TLS 1.2 and 1.3 are offered`)
}

/** The first of one or several. */
function first (given: unknown): unknown { return Array.isArray(given) ? given[0] as unknown : given }

function pem (given: unknown): string {
  const text = typeof given === 'object' && given !== null && 'pem' in given ? (given as { pem: unknown }).pem : given
  return Buffer.isBuffer(text) || ArrayBuffer.isView(text) ? Buffer.from(text as Buffer).toString() : String(text)
}

function passphraseOf (key: unknown): string | undefined {
  return typeof key === 'object' && key !== null ? (key as { passphrase?: string }).passphrase : undefined
}

/** A key without its passphrase. */
function opened (key: string, passphrase: string): string {
  return createPrivateKey({ key, passphrase }).export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** The identity that a context shows; undefined: the options name none. */
export function identityOf (options: SecureContextOptions): Identity | undefined {
  checkPolicy(options)
  if (options.pfx !== undefined) throw notProvided('a certificate in a PFX file: give cert and key in PEM')
  const cert = first(options.cert)
  const key = first(options.key)
  if (cert === undefined || key === undefined) return undefined
  const passphrase = passphraseOf(key) ?? options.passphrase
  return { cert: pem(cert), key: passphrase === undefined ? pem(key) : opened(pem(key), passphrase) }
}

/** The identity that a context must have. */
export function identityIn (options: SecureContextOptions): Identity {
  if ('context' in options) throw notProvided('a context that is made already is not taken: give its cert and key in PEM')
  const identity = identityOf(options)
  if (identity === undefined) throw notProvided('a context without an identity is not taken: give cert and key in PEM')
  return identity
}

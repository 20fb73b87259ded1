// Certificates and keys as the options of node:tls give them.

import { createPrivateKey } from 'node:crypto'
import type { SecureContextOptions } from 'node:tls'
import type { Identity } from '../server/listener'
import { completed, type ClientOptions } from '../server/clients'
import { notProvided } from './codes'
import { identityInPfx } from './pfx'

/** Options of node:tls by which a server says whom it admits, and how, with what is there instead. The
 * engine does not know them: taken in silence they would admit others than the program says. */
const REFUSED: Record<string, string> = {
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
/** What a server may speak at least; what is older than TLS 1.2 is never spoken. */
const MIN_VERSIONS = new Set<unknown>([undefined, null, 'TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'])

/** Throws where the options ask for more than there is. */
function checkPolicy (options: SecureContextOptions): void {
  const given = options as Record<string, unknown>
  for (const [name, instead] of Object.entries(REFUSED)) {
    if (given[name] != null && given[name] !== false) throw notProvided(`the option ${name} is not taken: ${instead}`)
  }
  if (!MIN_VERSIONS.has(given.minVersion)) throw notProvided(`minVersion is ${String(given.minVersion)}; it must be TLSv1.3 or older`)
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

/** By what node:tls says whom a server admits. */
export type TlsOptions = SecureContextOptions & { requestCert?: boolean; rejectUnauthorized?: boolean }

/** Whom a server with these options admits, and what completes its chain. */
export function admissionOf (options: TlsOptions): ClientOptions {
  const { requestCert, rejectUnauthorized, ca, crl } = options
  return { requestCert: Boolean(requestCert), rejectUnauthorized: rejectUnauthorized !== false, ca, crl }
}

/** Whether nothing older than TLS 1.3 may be spoken. */
export function wantsTls13 ({ minVersion }: SecureContextOptions): boolean { return minVersion === 'TLSv1.3' }

/** Throws where a context asks for more than its server: whom clients are believed by, and which versions of
 * TLS are spoken, does not change while it serves. */
export function checkContext (options: SecureContextOptions, admission: ClientOptions, onlyTls13: boolean): void {
  if (wantsTls13(options) && !onlyTls13) throw notProvided('minVersion is TLSv1.3; a context has that of its server')
  for (const name of ['ca', 'crl'] as const) {
    if (admission.requestCert !== true || options[name] == null) continue
    const same = JSON.stringify([options[name]].flat().map(String)) === JSON.stringify([admission[name] ?? []].flat().map(String))
    if (!same) throw notProvided(`the option ${name} of a context is not taken where it is not the server's`)
  }
}

/** The identity in the first of its PFX files. */
function identityOfPfx ({ pfx, passphrase, ca }: SecureContextOptions): Identity {
  const given = first(pfx) as string | Buffer | { buf: string | Buffer; passphrase?: string }
  const wrapped = typeof given === 'object' && 'buf' in given ? given : { buf: given }
  const file = typeof wrapped.buf === 'string' ? Buffer.from(wrapped.buf) : wrapped.buf
  const identity = identityInPfx(file, wrapped.passphrase ?? passphrase ?? '')
  return ca == null ? identity : { ...identity, cert: completed(String(identity.cert), ca as string) }
}

/** The identity that a context shows; undefined: the options name none. */
export function identityOf (options: SecureContextOptions): Identity | undefined {
  checkPolicy(options)
  if (options.pfx != null) return identityOfPfx(options)
  const cert = first(options.cert)
  const key = first(options.key)
  if (cert === undefined || key === undefined) return undefined
  const passphrase = passphraseOf(key) ?? options.passphrase
  const chain = options.ca == null ? pem(cert) : completed(pem(cert), options.ca as string)
  return { cert: chain, key: passphrase === undefined ? pem(key) : opened(pem(key), passphrase) }
}

/** The identity that a context must have. */
export function identityIn (options: SecureContextOptions): Identity {
  if ('context' in options) throw notProvided('a context that is made already is not taken: give its cert and key in PEM')
  const identity = identityOf(options)
  if (identity === undefined) throw notProvided('a context without an identity is not taken: give cert and key in PEM')
  return identity
}

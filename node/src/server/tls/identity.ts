// Certificates and keys by the options of node:tls, and the clients that they admit.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { completed, type ClientOptions } from './clients'
import type { Identity, ListenTls } from '../listen/options'
import { identityInPfx, type PfxContent } from './pfx'
import { policyOf, type Policy, type PolicyOptions } from './policy'
import { notProvided } from '../refused'

/** Options of node:tls by which a server says whom it admits, and how, with what is there instead. The
 * engine does not know them: taken in silence they would admit others than the program says. */
const REFUSED: Record<string, string> = {
  SNICallback: 'use addContext for each name',
  ALPNCallback: 'allowHTTP1 says what is offered',
  pskCallback: 'give cert and key',
  sigalgs: 'the algorithms are the engine\'s'
}

/** Throws where the options ask for more than there is. */
function checkKnown (options: SecureContextOptions): void {
  const given = options as Record<string, unknown>
  for (const [name, instead] of Object.entries(REFUSED)) {
    if (given[name] != null && given[name] !== false) throw notProvided(`the option ${name} is not taken: ${instead}`)
  }
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

/** The key in PEM, without its passphrase. */
function keyIn (key: unknown, common: string | undefined): string {
  const passphrase = passphraseOf(key) ?? common
  return passphrase === undefined ? pem(key) : opened(pem(key), passphrase)
}

/** The key of a certificate: with node:tls several have any order. */
function keyOf (cert: unknown, { key, passphrase }: SecureContextOptions): unknown {
  if (!Array.isArray(key) || key.length < 2) return first(key)
  const own = new X509Certificate(pem(cert))
  return key.find(one => own.checkPrivateKey(createPrivateKey(keyIn(one, passphrase)))) as unknown
}

/** By what node:tls says whom a server admits. */
export type ClientAuthOptions = SecureContextOptions & { requestCert?: boolean; rejectUnauthorized?: boolean }

/**
 * The clients that a server with these options admits, and the certificates that complete its
 * chain.
 */
export function admissionOf (options: ClientAuthOptions): ClientOptions {
  const { requestCert, rejectUnauthorized, ca, crl } = options
  const asks = Boolean(requestCert)
  const roots = asks && hasPfx(options) ? contentOfPfx(options).roots : []
  return { requestCert: asks, rejectUnauthorized: rejectUnauthorized !== false, ca, crl, roots }
}

/**
 * Throws where a context differs from its server in trusted issuers or policy, which do not change
 * while it serves.
 */
export function checkContext (options: SecureContextOptions, admission: ClientOptions, policy: Policy | undefined): void {
  const own = policyOf(options)
  if (own !== undefined && JSON.stringify(own) !== JSON.stringify(policy)) throw notProvided('minVersion, maxVersion, ciphers, ecdhCurve and their like in a context are not taken where they are not the server\'s')
  for (const name of ['ca', 'crl'] as const) {
    if (admission.requestCert !== true || options[name] == null) continue
    const same = JSON.stringify([options[name]].flat().map(String)) === JSON.stringify([admission[name] ?? []].flat().map(String))
    if (!same) throw notProvided(`the option ${name} of a context is not taken where it is not the server's`)
  }
}

/** As with node:tls an empty list is none. */
export function hasPfx ({ pfx }: SecureContextOptions): boolean { return pfx != null && !(Array.isArray(pfx) && pfx.length === 0) }

/** The content of the first of its PFX files; node:tls opens it first. */
export function contentOfPfx ({ pfx, passphrase }: SecureContextOptions): PfxContent {
  createSecureContext({ pfx, passphrase })
  const given = first(pfx) as string | Buffer | { buf: string | Buffer; passphrase?: string }
  const wrapped = typeof given === 'object' && 'buf' in given ? given : { buf: given }
  const file = typeof wrapped.buf === 'string' ? Buffer.from(wrapped.buf) : wrapped.buf
  return identityInPfx(file, wrapped.passphrase ?? passphrase ?? '')
}

/** The identity that a context shows; undefined: the options name none. */
export function identityOf (options: SecureContextOptions): Identity | undefined {
  checkKnown(options)
  // As with node:tls, false gives none.
  const chain = (cert: string): string => options.ca ? completed(cert, options.ca as string) : cert
  if (hasPfx(options)) {
    const { cert, key } = contentOfPfx(options)
    return { cert: chain(String(cert)), key }
  }
  const cert = first(options.cert)
  if (!cert || !first(options.key)) return undefined
  return { cert: chain(pem(cert)), key: keyIn(keyOf(cert, options) ?? first(options.key), options.passphrase) }
}

/** The identity that a context must have. */
export function identityIn (options: SecureContextOptions): Identity {
  const identity = identityOf(options)
  if (identity === undefined) throw notProvided('a context without an identity is not taken: give cert and key in PEM')
  return identity
}

/** One in PEM, or a PFX file in its place. */
export type IdentityOptions = Pick<SecureContextOptions, 'cert' | 'key' | 'pfx' | 'passphrase'>

/** TLS of `serve`: options of node:tls, and what the engine has beside them. */
export interface ServeTls extends IdentityOptions, PolicyOptions, Omit<ClientOptions, 'roots'>, Pick<ListenTls, 'keyLogFile' | 'sniIsBinding'> {
  /** Other certificates for clients that ask for these names (SNI); `*.rest` is for one label more. */
  names?: Record<string, IdentityOptions>
}

/** The identity that must be there. */
export function identityGiven (options: IdentityOptions, name: string): Identity {
  const identity = identityOf(options)
  if (identity === undefined) throw new TypeError(`${name} has no certificate; it must have cert and key in PEM, or pfx`)
  return identity
}

/** The listen options of `serve`. */
export function listenTlsOf (tls: ServeTls): ListenTls {
  const { cert: _, key: __, pfx, passphrase, minVersion, maxVersion, ciphers, ecdhCurve, honorCipherOrder, secureOptions, secureProtocol, ...rest } = tls
  const policy = { minVersion, maxVersion, ciphers, ecdhCurve, honorCipherOrder, secureOptions, secureProtocol } as PolicyOptions
  // Values that node:tls refuses are refused, with its words.
  createSecureContext(policy)
  const names = Object.entries(tls.names ?? {}).map(([name, own]) => [name, identityGiven(own, `tls.names['${name}']`)])
  const { roots } = admissionOf(tls as ClientAuthOptions)
  return { ...rest, ...identityGiven(tls, 'tls'), names: Object.fromEntries(names) as Record<string, Identity>, policy: policyOf(policy), roots: roots ?? [] }
}

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

function pem (given: unknown): string {
  const text = typeof given === 'object' && given !== null && 'pem' in given ? (given as { pem: unknown }).pem : given
  return Buffer.isBuffer(text) || ArrayBuffer.isView(text) ? Buffer.from(text as Buffer).toString() : String(text)
}

/** A key without its passphrase. */
export function opened (key: string, passphrase: string): string {
  return createPrivateKey({ key, passphrase }).export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** The key in PEM, without its passphrase. */
function keyIn (key: unknown, common: string | undefined): string {
  const passphrase = (key as { passphrase?: string } | null | undefined)?.passphrase ?? common
  return passphrase === undefined ? pem(key) : opened(pem(key), passphrase)
}

/** Each certificate with its key: with node:tls keys have any order, and one without the other is not used. */
function pairsIn ({ cert, key, passphrase }: SecureContextOptions): Identity[] {
  const certs = [cert].flat().filter(Boolean)
  const keys = ([key].flat() as unknown[]).filter(Boolean)
  if (certs.length === 0 || keys.length === 0) return []
  const pair = (cert: unknown, key: unknown): Identity => ({ cert: pem(cert), key: keyIn(key, passphrase) })
  // Where they do not fit, the engine refuses them.
  if (certs.length === 1 && keys.length === 1) return [pair(certs[0], keys[0])]
  const opened = keys.map(key => [key, createPrivateKey(keyIn(key, passphrase))] as const)
  const pairs = certs.flatMap(cert => {
    const own = new X509Certificate(pem(cert))
    const found = opened.find(([, key]) => own.checkPrivateKey(key))
    return found === undefined ? [] : [pair(cert, found[0])]
  })
  return pairs.length === 0 ? [pair(certs[0], keys[0])] : pairs
}

/** Kinds of keys by which the engine signs. */
const SIGNS = new Set(['rsa', 'ec', 'ed25519'])

/** The last of each kind of key, as OpenSSL has them; one of another kind where there is nothing else. */
function lastOfKinds (identities: Identity[]): Identity[] {
  if (identities.length < 2) return identities
  const kinds = new Map(identities.map(one => [createPrivateKey(one.key).asymmetricKeyType ?? '', one]))
  const usable = [...kinds].filter(([kind]) => SIGNS.has(kind))
  return (usable.length === 0 ? [...kinds] : usable).map(([, one]) => one)
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
  const roots = asks ? contentsOfPfx(options).flatMap(({ roots }) => roots) : []
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

/** The contents of its PFX files; node:tls opens them first. */
function contentsOfPfx ({ pfx, passphrase }: SecureContextOptions): PfxContent[] {
  if (!hasPfx({ pfx })) return []
  createSecureContext({ pfx, passphrase })
  return ([pfx].flat() as (string | Buffer | { buf: string | Buffer; passphrase?: string })[]).map(given => {
    const wrapped = typeof given === 'object' && 'buf' in given ? given : { buf: given }
    const file = typeof wrapped.buf === 'string' ? Buffer.from(wrapped.buf) : wrapped.buf
    return identityInPfx(file, wrapped.passphrase ?? passphrase ?? '')
  })
}

/** The content of the first of its PFX files, of which there is one. */
export function contentOfPfx (options: SecureContextOptions): PfxContent { return contentsOfPfx(options)[0]! }

/** The identity that a context shows, of several kinds of keys in one text; undefined: the options name none. */
export function identityOf (options: SecureContextOptions): Identity | undefined {
  checkKnown(options)
  // As with node:tls, false gives none.
  const chain = (cert: string): string => options.ca ? completed(cert, options.ca as string) : cert
  const identities = lastOfKinds([...pairsIn(options), ...contentsOfPfx(options)])
  if (identities.length === 0) return undefined
  return { cert: identities.map(({ cert }) => chain(String(cert))).join('\n'), key: identities.map(({ key }) => String(key)).join('\n') }
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

// A client's TLS options by the names of node:tls: trusted roots, own certificate, versions.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { SecureContextOptions } from 'node:tls'
import { InvalidArgumentError } from '../errors'
import type { PfxContent } from '../server/tls/pfx'
import { contentOfPfx, hasPfx, opened } from '../server/tls/identity'

export type Pem = string | Buffer | readonly (string | Buffer)[]

export interface TlsOptions {
  /** Trusted certificates in PEM; an empty array: none. Default: the platform's roots, with NODE_EXTRA_CA_CERTS. */
  ca?: Pem
  /** The client's certificate chain in PEM. Default: none. */
  cert?: Pem
  /** The certificate's key in PEM; with `passphrase` it may be encrypted. */
  key?: Pem
  /** A PFX file (PKCS #12) in place of `cert` and `key`; its roots are trusted too. Of a list the first. */
  pfx?: SecureContextOptions['pfx']
  /** The passphrase of an encrypted `key`, or of `pfx`. */
  passphrase?: string
  /** Whether a server without a trusted certificate is refused. Default: true. */
  rejectUnauthorized?: boolean
  /** The least version that is offered; those below TLSv1.2 are as TLSv1.2. Default: TLSv1.2. */
  minVersion?: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3' | null
  /** The greatest version that is offered; with TLSv1.2 there is no HTTP/3. Default: TLSv1.3. */
  maxVersion?: 'TLSv1.2' | 'TLSv1.3' | null
}

/**
 * Options of node:tls about trust that the engine does not support, with their replacements.
 * Ignoring them would trust other peers than the program intends.
 */
const REFUSED: Record<string, string> = {
  checkServerIdentity: 'connect.servername says which name a certificate must have, and ca who may issue it',
  crl: 'who may be revoked must not be in ca',
  secureContext: 'give ca, cert and key in PEM',
  pskCallback: 'give cert and key in PEM',
  ciphers: 'the suites of TLS 1.2 and 1.3 are the engine\'s: forward secret, with AEAD',
  sigalgs: 'the algorithms are the engine\'s',
  ecdhCurve: 'the groups are the engine\'s',
  secureOptions: 'TLS 1.2 and 1.3 are what there is',
  secureProtocol: 'TLS 1.2 and 1.3 are what there is'
}
/** The least and the greatest version; versions below TLS 1.2 are never negotiated. */
const MIN_VERSIONS = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3']
const MAX_VERSIONS = ['TLSv1.2', 'TLSv1.3']

const refuse = (text: string): never => { throw new InvalidArgumentError(text) }

function checkPolicy (connect: TlsOptions): void {
  const given = connect as Record<string, unknown>
  for (const [name, instead] of Object.entries(REFUSED)) {
    if (given[name] != null && given[name] !== false) refuse(`connect.${name} is not taken: ${instead}`)
  }
}

/** The one version that is offered; undefined: both. */
function onlyVersion ({ minVersion, maxVersion }: TlsOptions): number | undefined {
  if (minVersion != null && !MIN_VERSIONS.includes(minVersion)) refuse(`connect.minVersion is ${String(minVersion)}; it must be one of ${MIN_VERSIONS.join(', ')}`)
  if (maxVersion != null && !MAX_VERSIONS.includes(maxVersion)) refuse(`connect.maxVersion is ${String(maxVersion)}; it must be one of ${MAX_VERSIONS.join(', ')}: older versions are not spoken`)
  if (minVersion === 'TLSv1.3' && maxVersion === 'TLSv1.2') refuse('connect.minVersion is TLSv1.3, and connect.maxVersion is TLSv1.2, which is older: leave one of them out')
  if (minVersion === 'TLSv1.3') return 13
  return maxVersion === 'TLSv1.2' ? 12 : undefined
}

function pem (name: string, value: Pem | undefined): string[] {
  if (value == null) return []
  const all = Array.isArray(value) ? value : [value]
  return all.map(one => {
    if (typeof one === 'string') return one
    if (Buffer.isBuffer(one)) return one.toString('latin1')
    return refuse(`connect.${name} must be PEM: a string, a Buffer, or an array of them`)
  })
}

/** The identity of a PFX file, with its roots; undefined: there is none. */
function inPfx ({ pfx, passphrase }: TlsOptions): PfxContent | undefined {
  if (!hasPfx({ pfx })) return undefined
  try {
    return contentOfPfx({ pfx, passphrase })
  } catch (error) {
    return refuse(`connect.pfx cannot be opened: ${(error as Error).message}`)
  }
}

/** As the engine takes it. The environment is read each time that the engine is given it. */
export function tls (connect: TlsOptions): Record<string, unknown> {
  checkPolicy(connect)
  const { rejectUnauthorized } = connect
  const own = inPfx(connect) ?? { cert: pem('cert', connect.cert).join('\n') || undefined, key: keyOf(connect), roots: [] }
  // An empty text is none, as with node:tls; an empty list is one.
  const onlyGiven = connect.ca != null && connect.ca !== ''
  return {
    ca: [...onlyGiven ? pem('ca', connect.ca) : extraCa(), ...own.roots],
    onlyGiven,
    cert: own.cert,
    key: own.key,
    get insecure () { return rejectUnauthorized === undefined ? isEnvironmentInsecure() : rejectUnauthorized === false },
    onlyVersion: onlyVersion(connect)
  }
}

function keyOf ({ key, passphrase }: TlsOptions): string | undefined {
  const [first] = pem('key', key)
  try {
    return first === undefined || passphrase == null ? first : opened(first, passphrase)
  } catch (error) {
    return refuse(`connect.key cannot be opened with connect.passphrase: ${(error as Error).message}`)
  }
}

/** Whether the environment says that certificates are not verified where no option speaks of it, as for Node.js itself. */
export function isEnvironmentInsecure (): boolean { return process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' }

let hasWarned = false

/** Says once per thread what Node.js says with its first connection that it does not verify. */
export function warnOfEnvironment (): void {
  if (hasWarned) return
  hasWarned = true
  process.emitWarning("Setting the NODE_TLS_REJECT_UNAUTHORIZED environment variable to '0' makes TLS connections and HTTPS requests insecure by disabling certificate verification.")
}

/**
 * The content of the last file in NODE_EXTRA_CA_CERTS, read once, as Node.js does, for all
 * dispatchers.
 */
let extra: { file: string; roots: string[] } = { file: '', roots: [] }

/** Roots that the environment adds, as for Node.js itself. */
function extraCa (): string[] {
  const file = process.env['NODE_EXTRA_CA_CERTS'] ?? ''
  if (file !== extra.file) extra = { file, roots: file === '' ? [] : rootsIn(file) }
  return extra.roots
}

/** The certificates of a file, in PEM. One that cannot be used adds none, and a warning says why. */
function rootsIn (file: string): string[] {
  try {
    const text = readFileSync(file, 'latin1')
    const found = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
    if (found.length === 0) throw new Error('no certificate in PEM')
    for (const one of found) void new X509Certificate(one)
    return [found.join('\n')]
  } catch (error) {
    process.emitWarning(`Ignoring extra certs from \`${file}\`, load failed: ${(error as Error).message}`)
    return []
  }
}

// Client certificates by the options of node:tls: which a server accepts, and what a handler learns
// of an accepted one.

import { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'

type Pem = string | Buffer | NodeJS.ArrayBufferView
type Several = Pem | Pem[]

/** Options of node:tls, with its defaults. */
export interface ClientOptions {
  /** Whether clients are asked for a certificate. Default: false. */
  requestCert?: boolean | undefined
  /** Whether clients without a trusted certificate are refused. Default: true. */
  rejectUnauthorized?: boolean | undefined
  /**
   * The issuers of client certificates, in PEM; an empty list: none. Certificates missing from the server's own chain
   * are taken from here too. Default: node's authorities.
   */
  ca?: Several | undefined
  /** Lists of what is revoked, in PEM. */
  crl?: Several | undefined
  /** Authorities that are trusted beside these. */
  roots?: string[]
}

/** Options of client certificates in the engine's form. */
export interface ClientsAsk { issuers: string; revoked?: string; admits: 'believed' | 'everybody' }

function pemOf (given: Pem): string {
  return typeof given === 'string' ? given : Buffer.from(given.buffer, given.byteOffset, given.byteLength).toString()
}

/** One or several in one text. */
function joined (given: Several): string { return [given].flat().map(pemOf).join('\n') }

/** The client certificates that a server with these options requests; undefined: none. */
export function clientsOf ({ requestCert, rejectUnauthorized, ca, crl, roots = [] }: ClientOptions): ClientsAsk | undefined {
  // Any value but false requests certificates, so that a typing error does not admit everyone.
  if (requestCert == null || requestCert === false) return undefined
  return {
    // An empty list trusts no certificate.
    issuers: joined([ca || [...rootCertificates], roots].flat()).trim(),
    ...(!crl || (Array.isArray(crl) && crl.length === 0) ? {} : { revoked: joined(crl) }),
    admits: rejectUnauthorized === false ? 'everybody' : 'believed'
  }
}

const SECTION = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^]*?-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g

function certificatesIn (pem: string): X509Certificate[] {
  return (pem.match(SECTION) ?? []).map(text => new X509Certificate(text))
}

/** The certificate in Base64; nothing where it is none. */
function readable (text: string): X509Certificate[] {
  try {
    return [new X509Certificate(Buffer.from(text, 'base64'))]
  } catch {
    return []
  }
}

const isIssuedBy = (one: X509Certificate, other: X509Certificate): boolean => one.checkIssued(other)

/** A chain with those of its issuers behind it that it lacks and `ca` has; a root that issued itself is
 * not sent. */
export function completed (chain: string, ca: Several): string {
  const certificates = certificatesIn(chain)
  const known = certificatesIn(joined(ca)).filter(one => !isIssuedBy(one, one))
  let text = chain
  for (let last = certificates.at(-1); last !== undefined;) {
    const below = last
    last = known.find(one => isIssuedBy(below, one))
    if (last === undefined || certificates.some(one => one.raw.equals(last!.raw))) break
    certificates.push(last)
    text = `${text.trimEnd()}\n${last.toString()}`
  }
  return text
}

/** The client certificates of a server, as its connections request them. */
export class Admission {
  private known: X509Certificate[] | undefined
  constructor (private readonly ask: ClientsAsk | undefined) {}
  /** Whether clients are asked for a certificate. */
  get asks (): boolean { return this.ask !== undefined }
  get issuers (): X509Certificate[] { return (this.known ??= certificatesIn(this.ask?.issuers ?? '')) }
}

/** OpenSSL's codes for words of the engine's, which has its own for what revocation lists say. */
const FAULTS: Record<string, string> = { revoked: 'CERT_REVOKED', unlisted: 'UNABLE_TO_GET_CRL' }

/** The code of node:tls for a fault of a client's certificate; null: there is none. */
export function faultCode (fault: string): string | null {
  return fault === '' ? null : FAULTS[fault] ?? (/^[A-Z]/.test(fault) ? fault : 'UNSPECIFIED')
}

/** The result of node:tls's `getPeerCertificate`. */
type Legacy = Record<string, unknown> & { raw: Buffer; issuerCertificate?: Legacy }

/** The client of a connection. */
export class TlsClient {
  private certificates: X509Certificate[] | undefined

  /** `admission`: its server's. `fault`: OpenSSL's code or a word of the engine's, empty: none. `chain`: in Base64, its own certificate first. */
  constructor (private readonly admission: Admission, private readonly fault: string, private readonly chain: readonly string[]) {}

  get isAuthorized (): boolean { return this.chain.length > 0 && this.fault === '' }

  /**
   * Why it is not authorized, by the code of node:tls; `null`: it is, or no certificate was
   * requested.
   */
  get error (): string | null {
    if (!this.admission.asks || this.isAuthorized) return null
    if (this.chain.length === 0) return 'UNABLE_TO_GET_ISSUER_CERT'
    return faultCode(this.fault)
  }

  /** The certificates that it sent, its own first, as far as node can read them: behind its own a client may send any bytes. */
  get displayed (): X509Certificate[] { return (this.certificates ??= this.chain.flatMap(readable)) }

  /** As `getPeerCertificate` gives it; `detailed`: with its issuers, as far as they are known. */
  legacy (detailed: boolean): object {
    const [own] = this.displayed
    if (own === undefined) return {}
    const object = legacyOf(own)
    if (!detailed) return object
    // Each once: authorities may have signed each other.
    const left = new Set([...this.displayed.slice(1), ...this.admission.issuers])
    let [below, last] = [own, object]
    while (!isIssuedBy(below, below)) {
      const issuer = [...left].find(one => isIssuedBy(below, one))
      if (issuer === undefined) return object
      left.delete(issuer)
      below = issuer
      last = last.issuerCertificate = legacyOf(issuer)
    }
    last.issuerCertificate = last
    return object
  }
}

function legacyOf (certificate: X509Certificate): Legacy { return certificate.toLegacyObject() as unknown as Legacy }

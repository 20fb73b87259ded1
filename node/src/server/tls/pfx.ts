// Reads the certificates and the key of a PFX file (PKCS #12, RFC 7292), which Node.js loads
// without giving them out. The MAC is not checked here: the caller has had node:tls open the file
// before.

import { X509Certificate, createDecipheriv, createHash, createPrivateKey, pbkdf2Sync } from 'node:crypto'
import { completed } from './clients'
import type { Identity } from '../listen/options'
import { notProvided } from '../refused'

/** A value of DER: its tag, and what is in it. */
interface Value { tag: number; body: Buffer }

const CONTEXT_0 = 0xa0
const CONTEXT_0_PRIMITIVE = 0x80

// Object identifiers, in hexadecimal.
const DATA = '2a864886f70d010701'
const ENCRYPTED_DATA = '2a864886f70d010706'
const KEY_BAG = '2a864886f70d010c0a0101'
const SHROUDED_KEY_BAG = '2a864886f70d010c0a0102'
const CERTIFICATE_BAG = '2a864886f70d010c0a0103'
const X509 = '2a864886f70d01091601'
const PBES2 = '2a864886f70d01050d'
const PBKDF2 = '2a864886f70d01050c'
const SHA1_3DES = '2a864886f70d010c0103'
const HASHES: Record<string, string> = {
  '2a864886f70d0207': 'sha1', '2a864886f70d0209': 'sha256', '2a864886f70d020a': 'sha384', '2a864886f70d020b': 'sha512'
}
/** With the lengths of their keys, in bytes. */
const CIPHERS: Record<string, [string, number]> = {
  '608648016503040102': ['aes-128-cbc', 16], '608648016503040116': ['aes-192-cbc', 24], '60864801650304012a': ['aes-256-cbc', 32]
}

const HOW = 'write it anew with `openssl pkcs12 -export`, or give cert and key in PEM'

/** The values one behind the other in `bytes`. */
function values (bytes: Buffer): Value[] {
  const found: Value[] = []
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at]!
    let length = bytes[at + 1] ?? NaN
    at += 2
    if (length >= 0x80) {
      const count = length - 0x80
      if (count === 0 || count > 4 || at + count > bytes.length) throw notProvided(`a PFX file that is not DER is not taken: ${HOW}`)
      length = bytes.readUIntBE(at, count)
      at += count
    }
    if (!(at + length <= bytes.length)) throw notProvided(`a PFX file that is cut off is not taken: ${HOW}`)
    found.push({ tag, body: bytes.subarray(at, at + length) })
    at += length
  }
  return found
}

/** The parts of a sequence; throws where there are fewer than `least`. */
function parts (value: Value | undefined, least: number): Value[] {
  const all = value === undefined ? [] : values(value.body)
  if (all.length < least) throw notProvided(`a PFX file without what belongs in it is not taken: ${HOW}`)
  return all
}

const id = (value: Value): string => value.body.toString('hex')

/** RFC 7292 appendix B.2 with SHA-1: `purpose` 1 for a key, 2 for an initialization vector. */
function derive (passphrase: string, salt: Buffer, rounds: number, purpose: number, length: number): Buffer {
  const block = 64
  const filled = (bytes: Buffer): Buffer => Buffer.alloc(Math.ceil(bytes.length / block) * block, bytes)
  const password = Buffer.from(`${passphrase}\0`, 'utf16le').swap16()
  const input = Buffer.concat([filled(salt), filled(password)])
  const out: Buffer[] = []
  for (let made = 0; made < length; made += 20) {
    let hash = createHash('sha1').update(Buffer.alloc(block, purpose)).update(input).digest()
    for (let round = 1; round < rounds; round++) hash = createHash('sha1').update(hash).digest()
    out.push(hash)
    // Each block of the input grows by the hash, and by one.
    const more = Buffer.alloc(block, hash)
    for (let start = 0; start < input.length; start += block) {
      let carry = 1
      for (let at = block - 1; at >= 0; at--) {
        carry += input[start + at]! + more[at]!
        input[start + at] = carry & 0xff
        carry >>= 8
      }
    }
  }
  return Buffer.concat(out).subarray(0, length)
}

const number = ({ body }: Value): number => body.readUIntBE(0, Math.min(body.length, 6))

/** Decrypts with the algorithm that the identifier names. */
function decrypted (algorithm: Value, bytes: Buffer, passphrase: string): Buffer {
  const [name, parameters] = parts(algorithm, 2) as [Value, Value]
  const undo = (cipher: string, key: Buffer, iv: Buffer): Buffer => {
    const decipher = createDecipheriv(cipher, key, iv)
    return Buffer.concat([decipher.update(bytes), decipher.final()])
  }
  if (id(name) === SHA1_3DES) {
    const [salt, rounds] = parts(parameters, 2) as [Value, Value]
    const of = (purpose: number, length: number): Buffer => derive(passphrase, salt.body, number(rounds), purpose, length)
    return undo('des-ede3-cbc', of(1, 24), of(2, 8))
  }
  if (id(name) === PBES2) {
    const [derivation, scheme] = parts(parameters, 2) as [Value, Value]
    const [derives, how] = parts(derivation, 2) as [Value, Value]
    const [salt, rounds, ...rest] = parts(how, 2) as [Value, Value, ...Value[]]
    // RFC 8018 appendix A.2: without a word of it, HMAC with SHA-1.
    const prf = rest.find(({ tag }) => tag === 0x30)
    const hash = prf === undefined ? 'sha1' : HASHES[id(parts(prf, 1)[0]!)]
    const [cipher, iv] = parts(scheme, 2) as [Value, Value]
    const known = CIPHERS[id(cipher)]
    if (id(derives) === PBKDF2 && hash !== undefined && known !== undefined) {
      return undo(known[0], pbkdf2Sync(passphrase, salt.body, number(rounds), known[1], hash), iv.body)
    }
  }
  throw notProvided(`a PFX file with a cipher that is neither AES nor triple DES is not taken: ${HOW}`)
}

/** The content of a PFX file. */
export interface PfxContent extends Identity {
  /**
   * Roots among its certificates. Others only complete chains: OpenSSL does not trust them either.
   */
  roots: string[]
}

/** The identity in a PFX file: the certificate of its key, and those that have issued it. */
export function identityInPfx (file: Buffer, passphrase: string): PfxContent {
  const certificates: X509Certificate[] = []
  let keyBytes: Buffer | undefined
  const read = (contents: Buffer): void => {
    for (const bag of parts(values(contents)[0], 0)) {
      const [kind, wrapped] = parts(bag, 2) as [Value, Value]
      const [value] = parts(wrapped, 1) as [Value]
      if (id(kind) === KEY_BAG) keyBytes ??= wrapped.body
      if (id(kind) === SHROUDED_KEY_BAG) {
        const [algorithm, bytes] = parts(value, 2) as [Value, Value]
        keyBytes ??= decrypted(algorithm, bytes.body, passphrase)
      }
      if (id(kind) === CERTIFICATE_BAG) {
        const [form, der] = parts(value, 2) as [Value, Value]
        if (id(form) === X509) certificates.push(new X509Certificate(parts(der, 1)[0]!.body))
      }
    }
  }
  const [, safe] = parts(values(file)[0], 2)
  const content = (info: Value | undefined): [string, Value] => {
    const [kind, wrapped] = parts(info, 2) as [Value, Value]
    if (wrapped.tag !== CONTEXT_0) throw notProvided(`a PFX file without what belongs in it is not taken: ${HOW}`)
    return [id(kind), parts(wrapped, 1)[0]!]
  }
  for (const info of parts(values(content(safe)[1].body)[0], 0)) {
    const [kind, value] = content(info)
    if (kind === DATA) read(value.body)
    if (kind !== ENCRYPTED_DATA) continue
    const [, algorithm, bytes] = parts(parts(value, 2)[1], 3) as [Value, Value, Value]
    if (bytes.tag !== CONTEXT_0_PRIMITIVE) throw notProvided(`a PFX file that is not DER is not taken: ${HOW}`)
    read(decrypted(algorithm, bytes.body, passphrase))
  }
  if (keyBytes === undefined) throw notProvided('a PFX file without a key is not taken')
  const key = createPrivateKey({ key: keyBytes, format: 'der', type: 'pkcs8' })
  const own = certificates.find(one => one.checkPrivateKey(key))
  if (own === undefined) throw notProvided('a PFX file without a certificate for its key is not taken')
  const others = certificates.filter(one => one !== own)
  const roots = others.filter(one => one.checkIssued(one)).map(String)
  return { cert: completed(own.toString(), others.map(String)), roots, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

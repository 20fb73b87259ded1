// TLS versions, cipher suites and groups of a server, by the options of node:tls. Names that
// OpenSSL knows and the engine does not are ignored; a list with no name left is refused.

import { constants } from 'node:crypto'
import { DEFAULT_CIPHERS, type SecureContextOptions } from 'node:tls'
import { notProvided } from '../refused'

/** As the engine takes it: numbers as IANA has registered them; null: all that there are. */
export interface Policy {
  tls12: boolean
  tls13: boolean
  suites: number[] | null
  groups: number[] | null
  prefersOwnOrder: boolean
}

/** Options of node:tls. */
export type PolicyOptions = Pick<SecureContextOptions, 'minVersion' | 'maxVersion' | 'ciphers' | 'ecdhCurve' | 'honorCipherOrder' | 'secureOptions' | 'secureProtocol'>

/** Suites of TLS 1.3 by their names. */
const SUITES13: Record<string, number> = {
  TLS_AES_256_GCM_SHA384: 0x1302, TLS_CHACHA20_POLY1305_SHA256: 0x1303, TLS_AES_128_GCM_SHA256: 0x1301
}

/** A suite of TLS 1.2, and the words of OpenSSL's lists that mean it (ciphers(1)). */
interface Suite { number: number; bits: number; words: string[] }
const EVERY = ['ALL', 'DEFAULT', 'HIGH', 'ECDHE', 'EECDH', 'kECDHE', 'kEECDH', 'TLSv1.2']
function suite (name: string, number: number, ...words: string[]): Suite {
  return { number, bits: words.includes('AES128') ? 128 : 256, words: [name, ...EVERY, ...words] }
}
const ECDSA = ['aECDSA', 'ECDSA']
const [AES256, AES128] = ['AES256', 'AES128'].map(size => [size, 'AES', 'AESGCM', 'FIPS']) as [string[], string[]]
/** In OpenSSL's own order. */
const SUITES12 = [
  suite('ECDHE-ECDSA-AES256-GCM-SHA384', 0xc02c, ...AES256, ...ECDSA),
  suite('ECDHE-RSA-AES256-GCM-SHA384', 0xc030, ...AES256, 'aRSA'),
  suite('ECDHE-ECDSA-CHACHA20-POLY1305', 0xcca9, 'CHACHA20', ...ECDSA),
  suite('ECDHE-RSA-CHACHA20-POLY1305', 0xcca8, 'CHACHA20', 'aRSA'),
  suite('ECDHE-ECDSA-AES128-GCM-SHA256', 0xc02b, ...AES128, ...ECDSA),
  suite('ECDHE-RSA-AES128-GCM-SHA256', 0xc02f, ...AES128, 'aRSA')
]

/** By OpenSSL's names, in lower case. */
const GROUPS: Record<string, number> = {
  x25519: 0x1d, prime256v1: 0x17, secp256r1: 0x17, 'p-256': 0x17, secp384r1: 0x18, 'p-384': 0x18, x25519mlkem768: 0x11ec
}

/** Security levels above ask for more than the engine looks at. */
const SECURITY_LEVEL_MAX = 2

/** The suites of TLS 1.2 in a list of OpenSSL's. */
function suites12 (list: string[]): number[] {
  let off = [...SUITES12]
  let on: Suite[] = []
  // A command needs no separator in front of it.
  for (const item of list.flatMap(item => item.split(/[ ,;]|(?=@)/)).filter(item => item !== '')) {
    if (item === '@STRENGTH') {
      on.sort((one, other) => other.bits - one.bits)
      continue
    }
    const level = /^@SECLEVEL=(\d+)$/.exec(item)?.[1]
    if (level !== undefined && Number(level) <= SECURITY_LEVEL_MAX) continue
    if (item.startsWith('@')) throw notProvided(`ciphers has ${item}; of its commands there are @STRENGTH and @SECLEVEL from 0 to ${SECURITY_LEVEL_MAX}`)
    const sign = /^[!+-]/.exec(item)?.[0] ?? ''
    const words = item.slice(sign.length).split('+')
    const [meant, others] = [(one: Suite) => words.every(word => one.words.includes(word)), (one: Suite) => !words.every(word => one.words.includes(word))]
    const [onMeant, offMeant] = [on.filter(meant), off.filter(meant)]
    if (sign === '+') on = [...on.filter(others), ...onMeant]
    else if (sign === '') [on, off] = [[...on, ...offMeant], off.filter(others)]
    else [on, off] = [on.filter(others), sign === '!' ? off.filter(others) : [...onMeant, ...off]]
  }
  return on.map(({ number }) => number)
}

/** As node takes them: suites of TLS 1.3 by their names, all of them where none is named, then a list of OpenSSL's for TLS 1.2. */
function suitesOf (ciphers: string): number[] {
  const items = ciphers.split(':').filter(item => item !== '')
  const is13 = (item: string): boolean => item.startsWith('TLS_')
  const of13 = items.filter(is13).map(item => SUITES13[item]).filter(number => number !== undefined)
  const of12 = suites12(items.filter(item => !is13(item)))
  if (of13.length + of12.length === 0) throw notProvided(`ciphers is ${ciphers}; at least one suite must be among ${[...Object.keys(SUITES13), ...SUITES12.map(({ words }) => words[0])].join(', ')}`)
  return [...(items.some(is13) ? of13 : Object.values(SUITES13)), ...of12]
}

function groupsOf (curves: string): number[] {
  const found = curves.split(':').map(name => GROUPS[name.replace(/^[?*]+/, '').toLowerCase()]).filter(number => number !== undefined)
  if (found.length === 0) throw notProvided(`ecdhCurve is ${curves}; at least one group must be among X25519, P-256, P-384`)
  return found
}

/** Bits of `secureOptions` that forbid what there is not, or ask for what is so anyway. */
const IDLE_BITS = [
  'SSL_OP_ALL', 'SSL_OP_NO_SSLv2', 'SSL_OP_NO_SSLv3', 'SSL_OP_NO_TLSv1', 'SSL_OP_NO_TLSv1_1', 'SSL_OP_NO_COMPRESSION', 'SSL_OP_NO_TICKET',
  'SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION', 'SSL_OP_NO_RENEGOTIATION', 'SSL_OP_SINGLE_DH_USE', 'SSL_OP_SINGLE_ECDH_USE'
]
const bitOf = (name: string): number => (constants as unknown as Record<string, number | undefined>)[name] ?? 0

function checkBits (given: number): void {
  const known = [...IDLE_BITS, 'SSL_OP_NO_TLSv1_2', 'SSL_OP_NO_TLSv1_3', 'SSL_OP_CIPHER_SERVER_PREFERENCE'].reduce((all, name) => all | bitOf(name), 0)
  const others = given & ~known
  if (others !== 0) throw notProvided(`secureOptions has the bits 0x${(others >>> 0).toString(16)}; these are not known here`)
}

/** The oldest and the newest version that a `secureProtocol` means. */
const PROTOCOLS: Record<string, [boolean, boolean]> = { TLS: [true, true], SSLv23: [true, false], TLSv1_2: [true, false], TLSv1_3: [false, true] }

function versionsOf ({ minVersion, maxVersion: max, secureProtocol, secureOptions = 0 }: PolicyOptions): [boolean, boolean] {
  // As with node:tls, what is no text or empty is none.
  const maxVersion = max || undefined
  const method = typeof secureProtocol !== 'string' || secureProtocol === '' ? 'TLS' : secureProtocol.replace(/(_server)?_method$/, '')
  const [tls12, tls13] = PROTOCOLS[method] ?? [false, false]
  const spoken: [boolean, boolean] = [
    tls12 && minVersion !== 'TLSv1.3' && (secureOptions & bitOf('SSL_OP_NO_TLSv1_2')) === 0,
    tls13 && (maxVersion ?? 'TLSv1.3') === 'TLSv1.3' && (secureOptions & bitOf('SSL_OP_NO_TLSv1_3')) === 0
  ]
  if (maxVersion != null && maxVersion < 'TLSv1.2') spoken[0] = false
  if (spoken[0] || spoken[1]) return spoken
  const asked = JSON.stringify({ minVersion, maxVersion, secureProtocol, secureOptions })
  throw notProvided(`no version of TLS is left by ${asked}; TLSv1.2 and TLSv1.3 are what there is`)
}

/** The policy of a server with these options; undefined: no restriction. */
export function policyOf (options: PolicyOptions): Policy | undefined {
  const { ciphers, ecdhCurve, honorCipherOrder, secureOptions } = options
  checkBits(secureOptions ?? 0)
  let [tls12, tls13] = versionsOf(options)
  const list = ciphers || (honorCipherOrder ? DEFAULT_CIPHERS : '')
  const suites = list ? suitesOf(list) : null
  if (suites !== null) {
    const is13 = (number: number): boolean => number >>> 8 === 0x13
    // As with node a version without a suite is not accepted.
    tls12 &&= !suites.every(is13)
    tls13 &&= suites.some(is13)
    if (!tls12 && !tls13) throw notProvided(`ciphers is ${list}; it has no suite of a version that is spoken`)
  }
  const groups = ecdhCurve && ecdhCurve !== 'auto' ? groupsOf(ecdhCurve) : null
  const prefersOwnOrder = Boolean(honorCipherOrder ?? suites !== null)
  const isNarrow = !tls12 || !tls13 || suites !== null || groups !== null || prefersOwnOrder
  return isNarrow ? { tls12, tls13, suites, groups, prefersOwnOrder } : undefined
}

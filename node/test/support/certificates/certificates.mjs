// Certificates of every kind that a server may have, made by openssl in a folder that ends with the process. Each
// kind has what a server sends (`sent`, its own first), its key, and certificates by name that clients may trust.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-certificates-'))
process.on('exit', () => { rmSync(folder, { recursive: true, force: true }) })
const openssl = (...args) => execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
const read = name => readFileSync(join(folder, name), 'utf8')
let made = 0

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
const KEYS = {
  ec: EC,
  p384: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp384r1'],
  ed25519: ['-newkey', 'ed25519'],
  rsa: ['-newkey', 'rsa:2048']
}
export const SAN = 'subjectAltName=DNS:localhost,IP:127.0.0.1'
const CA = 'basicConstraints=critical,CA:TRUE'
const YEAR = 365 * 24 * 3600 * 1000
const day = offset => new Date(Date.now() + offset).toISOString().replace(/[-:T]|\.\d+/g, '')

/** A certificate; `issuer` is another of them, or absent: its own. `extensions`: lines of openssl's. */
export function certificate (name, { issuer, extensions = [], kind = 'ec', from = -YEAR, to = 10 * YEAR, digest = 'sha256', version = 3 } = {}) {
  const file = `c${made++}`
  openssl('req', ...KEYS[kind], '-nodes', '-new', '-keyout', `${file}.key`, '-out', `${file}.csr`, '-subj', `/CN=${name}`)
  if (version === 1) {
    // openssl gives version 1 where no extension is asked for and none is its own.
    const by = issuer === undefined ? ['-signkey', `${file}.key`] : ['-CA', `${issuer.file}.crt`, '-CAkey', `${issuer.file}.key`, '-set_serial', String(made)]
    openssl('x509', '-req', '-in', `${file}.csr`, ...by, `-${digest}`, '-days', '3650', '-out', `${file}.crt`)
  } else {
    writeFileSync(join(folder, `${file}.ext`), extensions.length === 0 ? 'subjectKeyIdentifier=hash\n' : `${extensions.join('\n')}\n`)
    writeFileSync(join(folder, `${file}.index`), '')
    writeFileSync(join(folder, `${file}.cnf`), `[ca]\ndefault_ca=a\n[a]\ndatabase=${file}.index\nnew_certs_dir=.\nserial=${file}.serial\npolicy=p\nunique_subject=no\n[p]\ncommonName=optional\n`)
    writeFileSync(join(folder, `${file}.serial`), `${(0x1000 + made).toString(16)}\n`)
    const by = issuer === undefined ? ['-selfsign', '-keyfile', `${file}.key`] : ['-cert', `${issuer.file}.crt`, '-keyfile', `${issuer.file}.key`]
    openssl('ca', '-batch', '-notext', '-config', `${file}.cnf`, ...by, '-md', kind === 'ed25519' || issuer?.kind === 'ed25519' ? 'default' : digest,
      '-in', `${file}.csr`, '-out', `${file}.crt`, '-extfile', `${file}.ext`, '-startdate', day(from), '-enddate', day(to))
  }
  return { file, kind, name, cert: read(`${file}.crt`), key: read(`${file}.key`) }
}

/** A PFX file with a certificate, its key, and certificates `beside` it. */
export function pfxOf ({ file }, passphrase, beside = []) {
  writeFileSync(join(folder, `${file}.chain`), beside.map(({ cert }) => cert).join(''))
  openssl('pkcs12', '-export', '-in', `${file}.crt`, '-inkey', `${file}.key`, ...beside.length === 0 ? [] : ['-certfile', `${file}.chain`], '-out', `${file}.pfx`, '-passout', `pass:${passphrase}`)
  return readFileSync(join(folder, `${file}.pfx`))
}

/**
 * A certificate as plain `openssl req -x509 -newkey ..` makes it: an authority that is a server
 * too.
 */
function byRequest (...args) {
  const file = `c${made++}`
  openssl('req', '-x509', ...EC, '-nodes', '-keyout', `${file}.key`, '-out', `${file}.crt`, '-days', '3650', '-subj', '/CN=localhost', ...args)
  return { file, cert: read(`${file}.crt`), key: read(`${file}.key`) }
}

/** All kinds by name. */
export function kinds () {
  const root = certificate('root', { extensions: [CA, 'keyUsage=critical,keyCertSign,cRLSign', 'subjectKeyIdentifier=hash'] })
  const intermediate = certificate('intermediate', { issuer: root, extensions: [CA, 'subjectKeyIdentifier=hash', 'authorityKeyIdentifier=keyid'] })
  const leaf = (options = {}) => certificate('localhost', { issuer: root, extensions: [SAN], ...options })
  const all = {}
  const add = (name, own, { chain = [], trusted = { root } } = {}) => {
    all[name] = { key: own.key, sent: [own, ...chain].map(one => one.cert).join(''), own: own.cert, trusted }
  }
  const alone = (name, own) => add(name, own, { trusted: { own } })

  add('a root and its own', leaf())
  alone('openssl req -x509 with a name', byRequest('-addext', SAN))
  alone('openssl req -x509 with CN alone', byRequest())
  alone('openssl req -x509 with CN and an address', byRequest('-addext', 'subjectAltName=IP:127.0.0.1'))
  alone('its own issuer, no authority', certificate('localhost', { extensions: [SAN, 'basicConstraints=critical,CA:FALSE'] }))
  alone('its own issuer, for TLS servers', certificate('localhost', { extensions: [SAN, CA, 'keyUsage=digitalSignature,keyCertSign', 'extendedKeyUsage=serverAuth'] }))
  alone('its own issuer, for TLS clients', certificate('localhost', { extensions: [SAN, CA, 'extendedKeyUsage=clientAuth'] }))
  alone('its own issuer, whose key may only sign certificates', certificate('localhost', { extensions: [SAN, CA, 'keyUsage=critical,keyCertSign'] }))
  alone('its own issuer, expired', certificate('localhost', { extensions: [SAN, CA], from: -2 * YEAR, to: -YEAR }))
  alone('its own issuer, not yet valid', certificate('localhost', { extensions: [SAN, CA], from: YEAR, to: 2 * YEAR }))
  alone('its own issuer, of another host', certificate('other', { extensions: ['subjectAltName=DNS:other.test', CA] }))
  alone('its own issuer, with CN of another host', certificate('other', { extensions: [CA] }))
  alone('its own issuer, with a name that an unknown critical extension limits', certificate('localhost', { extensions: [SAN, CA, '1.2.3.4=critical,ASN1:UTF8String:x'] }))
  alone('its own issuer, of version 1', certificate('localhost', { version: 1 }))
  for (const kind of ['rsa', 'p384', 'ed25519']) alone(`its own issuer, key ${kind}`, certificate('localhost', { kind, extensions: [SAN, CA] }))
  add('of version 1', leaf({ version: 1 }))
  add('CN alone', leaf({ extensions: ['subjectKeyIdentifier=hash'] }))
  add('CN and an address', leaf({ extensions: ['subjectAltName=IP:127.0.0.1'] }))
  add('CN and a name of another host', leaf({ extensions: ['subjectAltName=DNS:other.test'] }))
  add('CN of another host', certificate('other', { issuer: root, extensions: ['subjectKeyIdentifier=hash'] }))
  add('neither CN nor names that fit', certificate('other', { issuer: root, extensions: ['subjectAltName=IP:127.0.0.1'] }))
  add('a server that says that it is an authority', leaf({ extensions: [SAN, CA] }))
  add('expired', leaf({ from: -2 * YEAR, to: -YEAR }))
  add('not yet valid', leaf({ from: YEAR, to: 2 * YEAR }))
  add('for TLS clients', leaf({ extensions: [SAN, 'extendedKeyUsage=clientAuth'] }))
  add('for TLS servers', leaf({ extensions: [SAN, 'extendedKeyUsage=serverAuth', 'keyUsage=critical,digitalSignature'] }))
  add('a key that may only sign certificates', leaf({ extensions: [SAN, 'keyUsage=critical,keyCertSign'] }))
  add('an unknown critical extension', leaf({ extensions: [SAN, '1.2.3.4=critical,ASN1:UTF8String:x'] }))
  add('signed with SHA-1', leaf({ digest: 'sha1' }))
  for (const kind of ['rsa', 'p384', 'ed25519']) {
    const other = certificate('root', { kind, extensions: [CA] })
    add(`keys ${kind}`, leaf({ issuer: other, kind }), { trusted: { root: other } })
  }
  const middle = leaf({ issuer: intermediate })
  const both = { root, intermediate }
  add('an intermediate that is sent', middle, { chain: [intermediate], trusted: both })
  add('an intermediate and a root that are sent', middle, { chain: [intermediate, root], trusted: both })
  add('an intermediate that is not sent', middle, { trusted: both })
  const unnegotiated = certificate('intermediate', { extensions: [CA] })
  add('an intermediate of another key', middle, { chain: [unnegotiated], trusted: { root, unnegotiated } })
  add('an issuer that is no authority', leaf({ issuer: leaf({ issuer: root }) }), { chain: [], trusted: { root } })
  const plain = certificate('plain', { issuer: root, extensions: ['basicConstraints=critical,CA:FALSE'] })
  add('an intermediate that is no authority', leaf({ issuer: plain }), { chain: [plain], trusted: { root, plain } })
  const silent = certificate('silent', { issuer: root, extensions: ['subjectKeyIdentifier=hash'] })
  add('an intermediate that does not say what it is', leaf({ issuer: silent }), { chain: [silent] })
  const old = certificate('old', { issuer: root, extensions: [CA], from: -2 * YEAR, to: -YEAR })
  add('an intermediate that has expired', leaf({ issuer: old }), { chain: [old], trusted: { root, old } })
  const oldRoot = certificate('old root', { extensions: [CA], from: -2 * YEAR, to: -YEAR })
  add('a root that has expired', leaf({ issuer: oldRoot }), { trusted: { root: oldRoot } })
  const first = certificate('first', { version: 1 })
  add('a root of version 1', leaf({ issuer: first }), { trusted: { root: first } })
  const noRoot = certificate('no root', { extensions: ['basicConstraints=critical,CA:FALSE'] })
  add('a root that is no authority', leaf({ issuer: noRoot }), { trusted: { root: noRoot } })
  const short = certificate('short', { issuer: root, extensions: ['basicConstraints=critical,CA:TRUE,pathlen:0'] })
  const below = certificate('below', { issuer: short, extensions: [CA] })
  add('a path of allowed length', leaf({ issuer: short }), { chain: [short] })
  add('a path that is too long', leaf({ issuer: below }), { chain: [below, short], trusted: { root, short } })
  const limited = certificate('limited', { issuer: root, extensions: [CA, 'nameConstraints=critical,permitted;DNS:localhost'] })
  add('within the names of its issuer', leaf({ issuer: limited }), { chain: [limited] })
  add('CN within the names of its issuer', leaf({ issuer: limited, extensions: ['subjectKeyIdentifier=hash'] }), { chain: [limited] })
  const elsewhere = certificate('elsewhere', { issuer: root, extensions: [CA, 'nameConstraints=critical,permitted;DNS:other.test'] })
  add('beyond the names of its issuer', leaf({ issuer: elsewhere }), { chain: [elsewhere] })
  add('CN beyond the names of its issuer', leaf({ issuer: elsewhere, extensions: ['subjectKeyIdentifier=hash'] }), { chain: [elsewhere] })
  const forClients = certificate('for clients', { issuer: root, extensions: [CA, 'extendedKeyUsage=clientAuth'] })
  add('an intermediate for TLS clients', leaf({ issuer: forClients }), { chain: [forClients] })
  const signsNothing = certificate('signs nothing', { issuer: root, extensions: [CA, 'keyUsage=critical,digitalSignature'] })
  add('an intermediate whose key signs no certificates', leaf({ issuer: signsNothing }), { chain: [signsNothing] })
  add('a wildcard', certificate('x', { issuer: root, extensions: ['subjectAltName=DNS:*'] }))
  return all
}

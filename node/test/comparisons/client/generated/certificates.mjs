// TLS: what a server's certificate is x what the client trusts x version of HTTP x call, and the options of `connect`: who
// is let in, and by which error everyone else is refused.
import { once } from 'node:events'
import http2 from 'node:http2'
import { SAN, certificate, pfxOf } from '../../../support/certificates/certificates.mjs'

const YEAR = 365 * 24 * 3600 * 1000
const CA = 'basicConstraints=critical,CA:TRUE'

/** Made when it is asked for first. */
const lazily = make => {
  let made
  return () => { made ??= make(); return made }
}
const root = lazily(() => certificate('root', { extensions: [CA, 'subjectKeyIdentifier=hash'] }))
const otherRoot = lazily(() => certificate('other-root', { extensions: [CA] }))
const intermediate = lazily(() => certificate('intermediate', { issuer: root(), extensions: [CA, 'subjectKeyIdentifier=hash', 'authorityKeyIdentifier=keyid'] }))
const leaf = (options = {}) => lazily(() => certificate('localhost', { issuer: root(), extensions: [SAN], ...options }))
const alone = (options = {}) => lazily(() => certificate('localhost', { extensions: [SAN, CA], ...options }))
const middle = lazily(() => certificate('localhost', { issuer: intermediate(), extensions: [SAN] }))
const client = lazily(() => certificate('client', { issuer: root(), extensions: ['extendedKeyUsage=clientAuth'] }))
const intruder = lazily(() => certificate('client', { issuer: otherRoot(), extensions: ['extendedKeyUsage=clientAuth'] }))
const passphrase = 'a passphrase'
const file = lazily(() => pfxOf(client(), passphrase))
const fileOfAnother = lazily(() => pfxOf(intruder(), passphrase))
const fileWithRoot = lazily(() => pfxOf(client(), passphrase, [root()]))

const fine = leaf()
/** A server: its certificate, and what it sends beside it. */
const SERVERS = {
  'a good certificate': { own: fine },
  'an expired certificate': { own: leaf({ from: -2 * YEAR, to: -YEAR }) },
  'a certificate that is not yet valid': { own: leaf({ from: YEAR, to: 2 * YEAR }) },
  'a certificate for another host': { own: leaf({ extensions: ['subjectAltName=DNS:other.test'] }) },
  'a certificate with CN alone': { own: leaf({ extensions: ['subjectKeyIdentifier=hash'] }) },
  'a certificate for TLS clients': { own: leaf({ extensions: [SAN, 'extendedKeyUsage=clientAuth'] }) },
  'its own issuer': { own: alone() },
  'its own issuer, expired': { own: alone({ from: -2 * YEAR, to: -YEAR }) },
  'its own issuer, for another host': { own: alone({ extensions: ['subjectAltName=DNS:other.test', CA] }) },
  'an intermediate that is sent': { own: middle, beside: [intermediate] },
  'an intermediate and a root that are sent': { own: middle, beside: [intermediate, root] },
  'an intermediate that is not sent': { own: middle }
}

/** Trust of a client, of a server whose certificate is `own`. */
const TRUSTED = {
  'the roots of the platform': () => ({}),
  'its root': () => ({ ca: root().cert }),
  'its root, as bytes in a list': () => ({ ca: [otherRoot().cert, Buffer.from(root().cert)] }),
  'another root': () => ({ ca: otherRoot().cert }),
  'the certificate itself': own => ({ ca: own().cert }),
  'anything': () => ({ rejectUnauthorized: false }),
  'its root, in a PFX file': () => ({ pfx: fileWithRoot(), passphrase }),
  'its root, in a PFX file beside another': () => ({ pfx: fileWithRoot(), passphrase, ca: otherRoot().cert }),
  'its root, for another name': () => ({ ca: root().cert, servername: 'other.test' })
}

const started = new Map()
/** The origin of a server, one for a name. */
function serve (name, options) {
  if (!started.has(name)) {
    started.set(name, (async () => {
      const server = http2.createSecureServer({ allowHTTP1: true, ...options() }, (request, response) => {
        const { socket } = request.stream?.session ?? request
        response.end(`${request.httpVersion} ${socket.authorized} ${socket.getPeerCertificate().subject?.CN} ${socket.getProtocol()}`)
      })
      server.on('sessionError', () => {}).on('tlsClientError', () => {})
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      return `https://localhost:${server.address().port}`
    })())
  }
  return started.get(name)
}
const sent = ({ own, beside = [] }) => ({ key: own().key, cert: [own, ...beside].map(one => one().cert).join('') })

const VERSIONS = { h1: { allowH2: false }, h2: {} }
const known = error => [error.name, error.code ?? 'without a code', error.cause === undefined ? '' : `cause ${error.cause.name} ${error.cause.code}`].join(' ')

/** Calls, and the text that each gives. */
const CALLS = {
  request: (dispatcher, origin) => dispatcher.request({ origin, path: '/', method: 'GET' }).then(({ body }) => body.text()),
  fetch: async (dispatcher, origin, { fetch }) => await fetch(origin, { dispatcher }).then(response => response.text())
}

const attempt = (origin, call, options) => async (module, stage) => {
  const log = stage.log('client')
  const url = await origin()
  let dispatcher
  try {
    dispatcher = stage.own(new module.Agent(options()))
  } catch (error) {
    return log('refused', known(error))
  }
  // How many attempts there were depends on how long the first took.
  dispatcher.once('connectionError', (_, targets, error) => { stage.log('events')('connectionError', known(error)) })
  await CALLS[call](dispatcher, url, module).then(text => { log(text) }, error => { log('failed', known(error)) })
}

const programs = {}
for (const [version, options] of Object.entries(VERSIONS)) {
  for (const [name, server] of Object.entries(SERVERS)) {
    for (const [way, trust] of Object.entries(TRUSTED)) {
      for (const call of Object.keys(CALLS)) {
        programs[`${version}, ${call}, ${name}, trusting ${way}`] = attempt(() => serve(name, () => sent(server)), call, () => ({ ...options, connect: trust(server.own) }))
      }
    }
  }
}

/** The client's own certificate, of servers that ask for one. */
const mutual = isRequired => () => serve(`a certificate is ${isRequired ? 'required' : 'asked for'}`, () => ({ ...sent({ own: fine }), ca: root().cert, requestCert: true, rejectUnauthorized: isRequired }))
const OWN = {
  'none': () => ({}),
  'a good one': () => ({ cert: client().cert, key: client().key }),
  'a good one, as bytes': () => ({ cert: Buffer.from(client().cert), key: Buffer.from(client().key) }),
  'a PFX file': () => ({ pfx: file(), passphrase }),
  'a PFX file in a list': () => ({ pfx: [{ buf: file(), passphrase }] }),
  'a PFX file in front of another certificate': () => ({ pfx: file(), passphrase, cert: intruder().cert, key: intruder().key }),
  'a PFX file of another root': () => ({ pfx: fileOfAnother(), passphrase }),
  'a PFX file with another passphrase': () => ({ pfx: file(), passphrase: 'another' }),
  'a PFX file that is none': () => ({ pfx: Buffer.from('no file') }),
  'an empty list of PFX files': () => ({ pfx: [], cert: client().cert, key: client().key }),
  'one of another root': () => ({ cert: intruder().cert, key: intruder().key }),
  'one without its key': () => ({ cert: client().cert }),
  'a key alone': () => ({ key: client().key }),
  'one with the key of another': () => ({ cert: client().cert, key: intruder().key }),
  'what is none': () => ({ cert: 'no certificate', key: 'no key' })
}
for (const [version, options] of Object.entries(VERSIONS)) {
  for (const isRequired of [true, false]) {
    for (const [name, own] of Object.entries(OWN)) {
      for (const call of Object.keys(CALLS)) {
        programs[`${version}, ${call}, a certificate is ${isRequired ? 'required' : 'asked for'}: ${name}`] = attempt(mutual(isRequired), call, () => ({ ...options, connect: { ca: root().cert, ...own() } }))
      }
    }
  }
}

/** Versions of TLS and protocols of ALPN, of servers and of clients. */
const LIMITED = {
  'a server of TLS 1.2': { maxVersion: 'TLSv1.2' },
  'a server of TLS 1.3': { minVersion: 'TLSv1.3' },
  'a server of HTTP/2 alone': { allowHTTP1: false },
  'a server of HTTP/1.1 alone': { ALPNProtocols: ['http/1.1'] },
  'a server of another protocol': { ALPNProtocols: ['other'] }
}
const WANTED = {
  'as it is': {},
  'minVersion TLSv1.2': { minVersion: 'TLSv1.2' },
  'minVersion TLSv1': { minVersion: 'TLSv1' },
  'maxVersion TLSv1.3': { maxVersion: 'TLSv1.3' },
  'minVersion TLSv1.3': { minVersion: 'TLSv1.3' },
  'maxVersion TLSv1.2': { maxVersion: 'TLSv1.2' },
  'minVersion of none': { minVersion: 'TLSv9' },
  'an ALPN of its own': { ALPNProtocols: ['http/1.1'] },
  'an ALPN of HTTP/2': { ALPNProtocols: ['h2'] },
  'no session cache': { maxCachedSessions: 0 },
  'a name of another host': { servername: 'other.test' },
  'a name that is empty': { servername: '' }
}
for (const [version, options] of Object.entries(VERSIONS)) {
  for (const [name, limits] of Object.entries(LIMITED)) {
    for (const [label, wanted] of Object.entries(WANTED)) {
      programs[`${version}, ${name}: ${label}`] = attempt(() => serve(name, () => ({ ...sent({ own: fine }), ...limits })), 'request', () => ({ ...options, connect: { ca: root().cert, ...wanted } }))
    }
  }
}
export default programs

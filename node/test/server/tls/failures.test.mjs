// Handshakes that a client makes fail: the errors of `tlsClientError` and their sockets, beside those of node's own servers.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import test from 'node:test'
import tls from 'node:tls'
import { createSecureServer } from 'trunkline'
import { authority } from '../../support/certificates/authority.mjs'
import { cert, key } from '../../support/certificates/certificate.mjs'
import { certificate } from '../../support/certificates/certificates.mjs'

const known = authority('known')
const YEAR = 365 * 24 * 3600 * 1000
const issuer = certificate('issuer', { extensions: ['basicConstraints=critical,CA:TRUE'] })
const outOfDate = (from, to) => certificate('client', { issuer, extensions: ['extendedKeyUsage=clientAuth'], from: from * YEAR, to: to * YEAR })
const revoked = known.issue('revoked')
const identity = ({ cert, key }) => ({ cert, key })

const asks = { requestCert: true, ca: known.cert }
const asksOfIssuer = { requestCert: true, ca: issuer.cert }
const TLS12 = { maxVersion: 'TLSv1.2' }
const TLS13 = { minVersion: 'TLSv1.3' }
const OLD = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }

const DESCRIPTIONS = {
  bad_record_mac: 20, decryption_failed: 21, handshake_failure: 40, no_certificate: 41, bad_certificate: 42, certificate_revoked: 44, certificate_expired: 45,
  certificate_unknown: 46, illegal_parameter: 47, unknown_ca: 48, access_denied: 49, protocol_version: 70, internal_error: 80, certificate_unobtainable: 111,
  unrecognized_name: 112, bad_certificate_status_response: 113, unknown_psk_identity: 115, certificate_required: 116, no_application_protocol: 120
}
const record = (type, body) => Buffer.concat([Buffer.from([type, 3, 3, body.length >> 8, body.length & 255]), Buffer.from(body)])

/** A ClientHello as node's clients send it. */
async function helloOf (options) {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = tls.connect({ port: server.address().port, host: '127.0.0.1', servername: 'localhost', ALPNProtocols: ['http/1.1', 'h2'], ...options })
  client.on('error', () => {})
  const [socket] = await once(server, 'connection')
  const [hello] = await once(socket, 'data')
  client.destroy()
  socket.destroy()
  server.close()
  return hello
}
const [hello, hello12] = [await helloOf({}), await helloOf(TLS12)]

/** A client of node:tls with these options. */
const client = options => port => {
  const socket = tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert, ALPNProtocols: ['http/1.1', 'h2'], ...options })
  return socket.on('error', () => {}).resume()
}
/** A client that sends its ClientHello, if one is given, and these bytes behind the server's answer. */
const raw = (bytes, first) => port => {
  const socket = net.connect(port, '127.0.0.1').on('error', () => {})
  if (first === undefined) socket.resume().write(bytes)
  else {
    socket.write(first)
    socket.once('data', () => { socket.write(bytes) })
  }
  return socket
}
const alerts = Object.fromEntries(Object.entries(DESCRIPTIONS).flatMap(([name, number]) => [
  [`the alert ${name} in TLS 1.2`, [{}, raw(record(21, [2, number]), hello12)]],
  [`the alert ${name} in TLS 1.3`, [{}, raw(record(21, [2, number]), hello)]]
]))

/** By what the client does: options of the server, and the client. */
const failures = {
  'no certificate, with TLS 1.3': [asks, client({})],
  'no certificate, with TLS 1.2': [asks, client(TLS12)],
  'a certificate of nobody known, with TLS 1.3': [asks, client(identity(authority('unknown').issue('stranger')))],
  'a certificate of nobody known, with TLS 1.2': [asks, client({ ...identity(authority('unknown').issue('stranger')), ...TLS12 })],
  'a certificate that it has issued itself': [asks, client(identity(authority('itself')))],
  'a certificate for servers': [asks, client(identity(known.issue('server', 'extendedKeyUsage=serverAuth')))],
  'a certificate that is revoked': [{ ...asks, crl: known.revoke(revoked) }, client(identity(revoked))],
  'a certificate that has expired': [asksOfIssuer, client(identity(outOfDate(-2, -1)))],
  'a certificate that is not yet valid': [asksOfIssuer, client(identity(outOfDate(1, 2)))],
  'TLS 1.1': [{}, client({ ...OLD, maxVersion: 'TLSv1.1' })],
  'TLS 1.0': [{}, client({ ...OLD, maxVersion: 'TLSv1' })],
  'TLS 1.2 where 1.3 is served': [TLS13, client(TLS12)],
  'TLS 1.3 where 1.2 is served': [TLS12, client(TLS13)],
  'another suite of TLS 1.2': [{ ...TLS12, ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256' }, client({ ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384' })],
  'another group': [{ ecdhCurve: 'P-384' }, client({ ecdhCurve: 'X25519' })],
  'signatures of RSA alone': [{}, client({ sigalgs: 'RSA-PSS+SHA256' })],
  'another protocol': [{}, client({ ALPNProtocols: ['spdy/1'] })],
  'a request in cleartext': [{}, raw('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')],
  'bytes that are nothing': [{}, raw(Buffer.alloc(300, 0x7f))],
  'a message that is not due': [{}, raw(record(22, [20, 0, 0, 4, 1, 1, 1, 1]))],
  'content before its ClientHello': [{}, raw(record(23, Buffer.alloc(30)))],
  'a ClientHello that is cut short': [{}, raw(record(22, [1, 0, 0, 5, 3, 3, 0, 0, 0]))],
  'a ClientHello with bytes behind it': [{}, raw(record(22, Buffer.concat([Buffer.from([1, 0, hello.length - 7 >> 8, hello.length - 7 & 255]), hello.subarray(9), Buffer.alloc(2)])))],
  'a record that is too long': [{}, raw(Buffer.concat([Buffer.from([22, 3, 3, 0x48, 1]), Buffer.alloc(0x4801, 1)]))],
  'a record that cannot be decrypted': [{}, raw(record(23, Buffer.alloc(60, 3)), hello)],
  close_notify: [{}, raw(record(21, [1, 0]), hello)],
  ...alerts
}

/** Each kind of server, of node and of ours. */
const KINDS = {
  'node:http2': [options => http2.createSecureServer(options), options => createSecureServer(options)],
  'node:http2 with allowHTTP1': [options => http2.createSecureServer({ allowHTTP1: true, ...options }), options => createSecureServer({ allowHTTP1: true, ...options })],
  'node:https': [options => https.createServer(options), options => createSecureServer({ allowHTTP1: true, requests: 'http', ALPNProtocols: ['http/1.1'], ...options })]
}

/** The events of a client's failed handshake. */
async function reportedBy (make, options, connect) {
  const events = []
  const server = make({ cert, key, ...options })
  server.on('connection', () => { events.push('connection') })
  for (const event of ['clientError', 'tlsClientError']) {
    server.on(event, ({ name, code, library, reason }, socket) => {
      const { destroyed, encrypted, authorized, authorizationError } = socket
      events.push({ event, name, code, library, reason, destroyed, encrypted, authorized, authorizationError: authorizationError?.code ?? authorizationError ?? null })
    })
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const failed = once(server, 'tlsClientError')
  const socket = connect(server.address().port)
  await failed
  socket.destroy()
  if (server.compatServer === undefined) server.close()
  else server.compatServer.destroy()
  return events
}

for (const [kind, [ofNode, ofOurs]] of Object.entries(KINDS)) {
  for (const [what, [options, connect]] of Object.entries(failures)) {
    test(`${kind}: ${what} of a client is reported as by node`, async () => {
      const expected = await reportedBy(ofNode, options, connect)
      assert.deepEqual(await reportedBy(ofOurs, options, connect), expected)
    })
  }
}

test('a client without ALPN is a connection before it is unknown', async () => {
  const events = []
  const server = createSecureServer({ cert, key })
  for (const event of ['connection', 'unknownProtocol']) server.on(event, socket => { events.push([event, typeof socket.remotePort]) })
  server.on('unknownProtocol', socket => { socket.destroy() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const reported = once(server, 'unknownProtocol')
  const socket = client({ ALPNProtocols: undefined })(server.address().port)
  await reported
  assert.deepEqual(events, [['connection', 'number'], ['unknownProtocol', 'number']])
  socket.destroy()
  server.compatServer.destroy()
})

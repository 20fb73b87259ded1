// `proxyProtocol`: load balancers name their clients, and no other peer can.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'node:test'
import { createServer, serve } from 'trunkline'

const HEADER = 'PROXY TCP4 198.51.100.7 192.0.2.1 4711 80\r\n'
const REQUEST = 'GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n'

/** The answer to these bytes, to the end of the connection. */
async function answer (port, bytes) {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', piece => { text += piece })
  // One that is refused may be reset.
  socket.on('error', () => {})
  const closed = new Promise(resolve => { socket.on('close', resolve) })
  socket.write(bytes)
  await closed
  return text
}

/** A server of serve, ended with its test. */
function served (t, proxyProtocol) {
  const fetch = (asked, info) => new Response(`${info.remoteAddress} ${info.remotePort}`)
  const server = serve({ port: 0, hostname: '127.0.0.1', proxyProtocol, fetch })
  t.after(() => server.destroy())
  return server
}

test('a listed load balancer names the client of serve, and without a header its connection ends', async t => {
  const { port } = served(t, ['127.0.0.0/8'])
  assert.match(await answer(port, HEADER + REQUEST), /^HTTP\/1\.1 200 [^]*198\.51\.100\.7 4711/)
  assert.equal(await answer(port, REQUEST), '')
})

test('a header of a peer that is not listed is no request', async t => {
  const { port } = served(t, ['10.0.0.0/8'])
  assert.match(await answer(port, HEADER + REQUEST), /^HTTP\/1\.1 400 /)
  assert.match(await answer(port, REQUEST), /^HTTP\/1\.1 200 [^]*127\.0\.0\.1/)
})

test('an entry that is no address is named', t => {
  assert.throws(() => served(t, ['a.test']), /proxyProtocol: "a\.test" is neither an IP address nor a network/)
})

test('the socket of a request has the address that a load balancer names', async t => {
  const server = createServer({ proxyProtocol: ['127.0.0.1'] }, (request, response) => {
    response.end(`${request.socket.remoteAddress} ${request.socket.remotePort}`)
  })
  t.after(() => { server.close() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  assert.match(await answer(server.address().port, HEADER + REQUEST), /^HTTP\/1\.1 200 [^]*198\.51\.100\.7 4711/)
})

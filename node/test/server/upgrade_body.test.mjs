// Requests for an upgrade that have a body, as Docker's clients send them: the bytes behind the body belong to the protocol that was
// switched to. From Node.js 26 on the body is the request's, and before it comes first on the socket.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import { createServer } from 'trunkline'

const BODY = '{"stdin":true}'
const isOfRequest = Number.parseInt(process.versions.node, 10) >= 26
const HEAD = `POST /attach HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: tcp\r\ncontent-length: ${BODY.length}\r\n\r\n`
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: tcp\r\n\r\n'

/** A server whose upgrades are handled by `listener`, and a client of it. */
async function connected (t, listener) {
  const server = createServer({ requests: 'http' })
  server.on('upgrade', listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  const client = net.connect(server.address().port, '127.0.0.1')
  t.after(() => { client.destroy() })
  let text = ''
  client.on('data', chunk => { text += chunk })
  const until = async end => { while (!text.endsWith(end)) await once(client, 'data') }
  return { client, until, received: () => text }
}

/** The pieces in which the client sends its bytes: each waits for the answer to the one before it. */
const PIECES = {
  'with the head': [HEAD + BODY],
  'behind the head': [HEAD, BODY],
  'in two pieces': [HEAD + BODY.slice(0, 3), BODY.slice(3)],
  'byte by byte': [HEAD, ...BODY]
}

for (const [name, pieces] of Object.entries(PIECES)) {
  test(`a body that comes ${name} does not end the protocol behind it`, async t => {
    let came = ''
    const { client, until, received } = await connected(t, (request, socket) => {
      socket.write(SWITCH)
      if (isOfRequest) {
        request.on('data', chunk => { came += chunk })
        request.on('end', () => { socket.write(`<${request.complete}>`) })
      }
      socket.on('data', chunk => {
        came += chunk
        socket.write(`<${chunk.length}>`)
      })
      socket.on('end', () => { socket.end('bye') })
    })
    let sent = 0
    for (const piece of pieces) {
      client.write(piece)
      sent += piece.length
      while (came.length < sent - HEAD.length) await new Promise(resolve => { setImmediate(resolve) })
    }
    await until('>')
    assert.equal(came, BODY)
    client.write('typed')
    await until('<5>')
    assert.equal(came, `${BODY}typed`)
    client.end()
    await once(client, 'end')
    assert.ok(received().startsWith(SWITCH) && received().endsWith('bye'), received())
  })
}

test('a client that leaves in the middle of the body ends its socket', async t => {
  const closed = new Promise(resolve => {
    connected(t, (request, socket) => {
      socket.on('error', () => {})
      socket.on('close', resolve)
      socket.resume()
      client.destroy()
    }).then(made => {
      client = made.client
      client.write(HEAD + BODY.slice(0, 3))
    })
  })
  let client
  await closed
})

test('an upgrade with a body that is refused is answered', async t => {
  const { client, received } = await connected(t, (request, socket) => { socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n') })
  client.write(HEAD + BODY)
  await once(client, 'end')
  assert.ok(received().startsWith('HTTP/1.1 403 Forbidden\r\n'), received())
})

test('a body whose reader is the socket alone does not hold up the bytes behind it', async t => {
  const { client, until } = await connected(t, (request, socket) => {
    let came = ''
    socket.write(SWITCH)
    socket.on('end', () => { socket.end() })
    socket.on('data', chunk => {
      came += chunk
      if (came.endsWith('typed')) socket.write(`<${came}>`)
    })
  })
  client.write(HEAD + BODY)
  await until('\r\n\r\n')
  client.write('typed')
  await until(isOfRequest ? '<typed>' : `<${BODY}typed>`)
})

test('the body of a request whose client leaves in the middle of it is cut', { skip: isOfRequest ? false : 'the body is the socket\'s' }, async t => {
  let report
  const failed = new Promise(resolve => { report = resolve })
  const { client } = await connected(t, (request, socket) => {
    socket.on('error', () => {})
    request.on('error', report).resume()
    client.destroy()
  })
  client.write(HEAD + BODY.slice(0, 3))
  assert.equal((await failed).code, 'ECONNRESET')
})

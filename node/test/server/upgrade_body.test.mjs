// Requests for an upgrade that have a body, as Docker's clients send them: the body comes first, and the bytes behind it
// belong to the protocol that was switched to.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import { createServer } from 'trunkline'

const BODY = '{"stdin":true}'
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

// `forwarding`: listed proxies state the client of each request, no other peer can, and what frameworks read is as without it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'node:test'
import { createServer, serve } from 'trunkline'

const FORGED = 'forwarded: for=198.51.100.9\r\nforwarded: for="[2001:db8::7]:4711";proto=https;host=a.test, for=127.0.0.1\r\n' +
  'x-forwarded-for: 198.51.100.9, 198.51.100.8\r\nx-forwarded-proto: https\r\nx-forwarded-host: b.test\r\n'
const STANDARD = { address: '2001:db8::7', port: 4711, secure: true, host: 'a.test' }
const OTHER = { address: '198.51.100.8', port: null, secure: true, host: 'b.test' }

/** The answer to a request with these fields. */
async function answer (port, fields = FORGED) {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', piece => { text += piece })
  const closed = once(socket, 'close')
  socket.write(`GET / HTTP/1.1\r\nhost: c.test\r\n${fields}connection: close\r\n\r\n`)
  await closed
  assert.match(text, /^HTTP\/1\.1 200 /)
  return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4).replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/g, ''))
}

const ROWS = [
  [{ from: ['127.0.0.0/8'] }, STANDARD],
  [{ from: ['127.0.0.1'], fields: 'forwarded' }, STANDARD],
  [{ from: ['127.0.0.0/8'], fields: 'x-forwarded' }, OTHER],
  [{ from: ['10.0.0.0/8'] }, null],
  [{ from: ['10.0.0.0/8'], fields: 'x-forwarded' }, null],
  [undefined, null]
]

test('serve: the client that a listed proxy states, and no other', async t => {
  for (const [forwarding, expected] of ROWS) {
    const server = serve({
      hostname: '127.0.0.1', forwarding, fetch: (asked, info) => Response.json({ client: info.forwarded, again: server.forwarded(asked), address: server.requestIP(asked).address })
    })
    t.after(() => server.destroy())
    assert.deepEqual(await answer(server.port), { client: expected, again: expected, address: '127.0.0.1' })
    if (expected !== null) assert.equal((await answer(server.port, '')).client, null)
  }
})

for (const requests of [undefined, 'http']) {
  test(`createServer, requests: ${requests}: the same by server.forwarded(request), and the request is as it was`, async t => {
    for (const [forwarding, expected] of ROWS) {
      const server = createServer({ forwarding, requests }, (request, response) => {
        response.end(JSON.stringify({ client: server.forwarded(request), address: request.socket.remoteAddress, field: request.headers['x-forwarded-for'] }))
      })
      t.after(() => { server.close() })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      assert.deepEqual(await answer(server.address().port), { client: expected, address: '127.0.0.1', field: '198.51.100.9, 198.51.100.8' })
    }
  })
}

test('what cannot be an option is named with what is allowed', () => {
  const fetch = () => new Response('ok')
  assert.throws(() => serve({ fetch, forwarding: { from: ['a.test'] } }), /forwarding\.from: "a\.test" is neither an IP address nor a network/)
  for (const make of [forwarding => serve({ fetch, forwarding }), forwarding => createServer({ forwarding })]) {
    assert.throws(() => make({ from: '10.0.0.0/8' }), /forwarding\.from is '10\.0\.0\.0\/8'; it must be addresses and networks/)
    assert.throws(() => make({ from: [], fields: 'via' }), /forwarding\.fields is 'via'; it must be forwarded or x-forwarded/)
    assert.throws(() => make({ form: [] }), /forwarding has no form; it has from, fields/)
    assert.throws(() => make(true), /forwarding is true; it must be \{ from, fields \}/)
  }
})

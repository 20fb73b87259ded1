// Values that no field may have, or that are not Latin-1, where a program gives them: node:http2 throws nothing, and its peer gets the
// message without the field, or with one byte for each character.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import test from 'node:test'
import { createServer } from 'trunkline'
import { connect } from 'trunkline/http2'

/** A value, and what a peer gets of it; undefined: nothing. */
const VALUES = { 'a line feed': ['a\nb'], 'a carriage return': ['a\r\nx-injected: b'], 'a control character': ['a\x01b'], 'a deletion': ['a\x7f'], 'a character beyond Latin-1': ['\u20ac', '\u00ac'], 'one whose low byte is a line feed': ['a\u010ab'], 'Latin-1': ['\u00e9', '\u00e9'] }
/** NUL: node sends it, and its peers refuse the message. */
const OWN = { NUL: ['a\0b'] }

/** Calls of a server that give a field `x-a`, and the event of its client that has it. */
const CALLS = {
  'stream.respond': ['stream', 'response', (stream, fields) => { stream.respond(fields); stream.end() }],
  'stream.additionalHeaders': ['stream', 'headers', (stream, fields) => { stream.additionalHeaders({ ':status': 103, ...fields }); stream.respond(); stream.end() }],
  'stream.sendTrailers': ['stream', 'trailers', (stream, fields) => {
    stream.respond({}, { waitForTrailers: true })
    stream.on('wantTrailers', () => { stream.sendTrailers({ 'x-b': '1', ...fields }) })
    stream.end()
  }],
  'response.setHeader': ['request', 'response', (_, fields, response) => { for (const name in fields) response.setHeader(name, fields[name]); response.end() }],
  'response.writeHead': ['request', 'response', (_, fields, response) => { response.writeHead(200, fields).end() }],
  'response.setTrailer': ['request', 'trailers', (_, fields, response) => { response.write('a'); response.setTrailer('x-b', '1'); response.setTrailer('x-a', fields['x-a']); response.end() }],
  'response.writeEarlyHints': ['request', 'headers', (_, fields, response) => { response.writeEarlyHints({ link: '</a>; rel=preload', ...fields }); response.end() }]
}

/** The field as a client of node's gets it in that event. */
async function got (t, server, [event, where, answer], value) {
  server.on(event, (first, second) => { answer(first, { 'x-a': value }, second) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = http2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => { client.destroy(); server.close() })
  const stream = client.request()
  let field = 'no event'
  stream.on(where, fields => { field = { 'x-a': fields['x-a'], 'x-injected': fields['x-injected'] } })
  await once(stream.resume(), 'close')
  assert.equal(stream.rstCode, 0)
  return field
}

for (const [call, how] of Object.entries(CALLS)) {
  test(`a value that no field may have does not reach the client, and ends nothing: ${call}`, async t => {
    for (const [what, [value, expected]] of Object.entries({ ...VALUES, ...OWN })) {
      const field = { 'x-a': expected, 'x-injected': undefined }
      if (what in VALUES) assert.deepEqual(await got(t, http2.createServer(), how, value), field, `${what}, node:http2`)
      assert.deepEqual(await got(t, createServer(), how, value), field, what)
    }
  })
}

test('a value that no field may have does not reach the server, and ends nothing', async t => {
  const server = http2.createServer()
  const came = []
  server.on('stream', (stream, headers) => {
    stream.on('trailers', trailers => { came.push(headers['x-a'], trailers['x-a']) })
    stream.resume().on('end', () => { stream.respond(); stream.end() })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  for (const [what, [value, expected]] of Object.entries({ ...VALUES, ...OWN })) {
    for (const to of what in VALUES ? [http2.connect, connect] : [connect]) {
      const client = to(`http://127.0.0.1:${server.address().port}`)
      t.after(() => { client.destroy() })
      const stream = client.request({ ':method': 'POST', 'x-a': value }, { waitForTrailers: true })
      stream.on('wantTrailers', () => { stream.sendTrailers({ 'x-a': value, 'x-b': '1' }) })
      stream.end()
      await once(stream.resume(), 'close')
      assert.deepEqual(came.splice(0), [expected, expected], `${what}, ${to === connect ? 'ours' : 'node:http2'}`)
    }
  }
  server.close()
})

test('a scheme as `protocol` of a URL has it, with a colon, goes without it', async t => {
  const server = http2.createServer()
  server.on('stream', (stream, headers) => { stream.respond({ 'x-scheme': headers[':scheme'] }); stream.end() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(`http://127.0.0.1:${server.address().port}`)
  const client = connect(url)
  t.after(() => { client.destroy(); server.close() })
  const stream = client.request({ ':scheme': url.protocol })
  const [headers] = await once(stream, 'response')
  assert.deepEqual([headers['x-scheme'], stream.sentHeaders[':scheme']], ['http', 'http:'])
})

// `fetchOver`: a function with the signature of `fetch`, and every kind of body that libraries give
// such a function.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import test from 'node:test'
import FormDataStream from 'form-data'
import * as formdataNode from 'formdata-node'
import { Agent, errors, fetchOver } from 'trunkline'
import * as undici from 'undici7'
import { ways } from '../../support/servers/servers.mjs'
import { versions } from '../../support/servers/versions.mjs'

/** Says what reached it. */
const mirror = async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const { 'content-type': type, 'content-length': length, 'x-own': own } = request.headers
  response.end(JSON.stringify({ method: request.method, url: request.url, type, length, own, body: Buffer.concat(chunks).toString('latin1') }))
}

const bytes = Buffer.from('hello')
async function * later () {
  yield 'hell'
  yield Buffer.from('o')
}
function * soon () {
  yield Buffer.from('hell')
  yield Buffer.from('o')
}

/** By kind: the body, its content type, and whether its length is known before. */
const kinds = {
  'a string': [() => 'hello', 'text/plain;charset=UTF-8', true],
  'a Buffer': [() => bytes, undefined, true],
  'a typed array': [() => new Uint8Array(bytes), undefined, true],
  'a DataView': [() => new DataView(new Uint8Array(bytes).buffer), undefined, true],
  'an ArrayBuffer': [() => new Uint8Array(bytes).buffer, undefined, true],
  'a Blob': [() => new Blob(['hell', 'o'], { type: 'text/x' }), 'text/x', true],
  'a File': [() => new File(['hello'], 'name', { type: 'text/x' }), 'text/x', true],
  "another package's Blob": [() => new formdataNode.Blob(['hello'], { type: 'text/x' }), 'text/x', true],
  'a ReadableStream': [() => new Blob(['hello']).stream(), undefined, false],
  'a Readable': [() => Readable.from([Buffer.from('hell'), Buffer.from('o')]), undefined, false],
  'an async iterable': [later, undefined, false],
  'an iterable': [soon, undefined, false]
}

/** FormData of Node.js and of others. */
const forms = {
  "Node's": [FormData, File],
  "undici's": [undici.FormData, undici.File ?? File],
  "formdata-node's": [formdataNode.FormData, formdataNode.File]
}

/** A server and a fetch for it, until the test is over. */
async function pair (t, serve, options) {
  const server = await serve(mirror)
  const agent = new Agent(options)
  t.after(async () => { await agent.close(); await server.close() })
  return { server, fetch: fetchOver(agent) }
}

for (const { name, serve, options } of versions) {
  test(`fetchOver sends every kind of body over ${name}, its length where it is known`, async t => {
    const { server, fetch } = await pair(t, serve, options)
    for (const [kind, [make, type, hasLength]] of Object.entries(kinds)) {
      const answer = await fetch(`${server.url}/path?q`, { method: 'POST', body: make(), headers: { 'x-own': 'kept' } })
      const seen = await answer.json()
      assert.deepEqual(seen, { method: 'POST', url: '/path?q', ...(type && { type }), ...(hasLength && { length: '5' }), own: 'kept', body: 'hello' }, kind)
    }
    const search = await (await fetch(server.url, { method: 'PUT', body: new URLSearchParams({ a: 'b c' }) })).json()
    assert.deepEqual([search.type, search.body], ['application/x-www-form-urlencoded;charset=UTF-8', 'a=b+c'])
  })

  test(`fetchOver sends forms of every package over ${name}`, async t => {
    const { server, fetch } = await pair(t, serve, options)
    for (const [whose, [Form, OwnFile]] of Object.entries(forms)) {
      const form = new Form()
      form.append('text', 'value')
      form.append('file', new OwnFile(['content'], 'name.txt', { type: 'text/x' }))
      const seen = await (await fetch(server.url, { method: 'POST', body: form })).json()
      const parsed = await new Response(Buffer.from(seen.body, 'latin1'), { headers: { 'content-type': seen.type } }).formData()
      assert.equal(parsed.get('text'), 'value', whose)
      const file = parsed.get('file')
      assert.deepEqual([file.name, file.type, await file.text()], ['name.txt', 'text/x', 'content'], whose)
      assert.equal(Number(seen.length), seen.body.length, whose)
    }
    const streamed = new FormDataStream()
    streamed.append('text', 'value')
    streamed.append('file', bytes, { filename: 'name.txt' })
    const seen = await (await fetch(server.url, { method: 'POST', body: streamed })).json()
    assert.equal(seen.type, `multipart/form-data; boundary=${streamed.getBoundary()}`)
    assert.match(seen.body, /name="text"\r\n\r\nvalue\r\n/)
    assert.match(seen.body, /name="file"; filename="name.txt"\r\n[^]+\r\n\r\nhello\r\n/)
  })
}

test('fetchOver takes a Request, and what the caller says of the type stands', async t => {
  const { server, fetch } = await pair(t, ways[0].serve)
  const request = new Request(`${server.url}/r`, { method: 'POST', body: 'hello', headers: { 'x-own': 'kept' } })
  const seen = await (await fetch(request)).json()
  assert.deepEqual([seen.url, seen.body, seen.own], ['/r', 'hello', 'kept'])
  const typed = await (await fetch(server.url, { method: 'POST', body: new formdataNode.Blob(['x'], { type: 'text/x' }), headers: { 'content-type': 'text/own' } })).json()
  assert.equal(typed.type, 'text/own')
})

test('fetchOver refuses what is no dispatcher and no body, and sends nothing', async t => {
  const { server, fetch } = await pair(t, ways[0].serve)
  assert.throws(() => fetchOver({}), errors.InvalidArgumentError)
  await assert.rejects(fetch(server.url, { method: 'POST', body: { a: 1 } }), { name: 'TypeError', message: /an object is to be made JSON first/ })
  assert.equal(server.counts.requests, 0)
})

test('a fetch whose response is cut right behind its head rejects, and does not hang', async t => {
  const server = await ways[1].serve((request, response) => {
    response.write('x'.repeat(3000), () => { request.socket.destroy() })
  })
  const agent = new Agent(ways[1].options)
  t.after(async () => { await agent.close(); await server.close() })
  const fetch = fetchOver(agent)
  const outcomes = await Promise.allSettled(Array.from({ length: 200 }, async () => await (await fetch(server.url)).text()))
  assert.ok(outcomes.every(outcome => outcome.status === 'rejected'))
})

test('a fetch of Node.js whose response is longer than maxResponseSize fails, though its body comes with its head', async t => {
  const server = await ways[0].serve((request, response) => { response.end('hello') })
  const agent = new Agent({ ...ways[0].options, maxResponseSize: 3 })
  t.after(async () => { await agent.close(); await server.close() })
  const response = await globalThis.fetch(server.url, { dispatcher: agent })
  await assert.rejects(response.text(), ({ cause }) => cause.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
})

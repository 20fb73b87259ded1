// Values of another realm, as Jest has one for each file of tests, and node:vm for each context.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import vm from 'node:vm'
import { Agent, createServer, fetch, http2, request, Request, Response, serve } from 'trunkline'

const context = vm.createContext({})
const foreign = code => vm.runInContext(code, context)
const bytes = () => foreign('new Uint8Array([104, 105])')
/** Bodies of bytes that another realm has made, each of which is `hi`. */
const BODIES = {
  'a Uint8Array': bytes,
  'an ArrayBuffer': () => bytes().buffer,
  'a DataView': () => foreign('new DataView(new Uint8Array([104, 105]).buffer)'),
  'a generator of Uint8Arrays': () => foreign('(async function * () { yield new Uint8Array([104]); yield new Uint8Array([105]) })()'),
  'a stream of Uint8Arrays': () => new ReadableStream({ start (controller) { controller.enqueue(bytes()); controller.close() } })
}

async function echo (t) {
  const server = http.createServer((incoming, outgoing) => { incoming.pipe(outgoing) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  const dispatcher = new Agent()
  t.after(() => dispatcher.destroy())
  return { url: `http://127.0.0.1:${server.address().port}/`, dispatcher }
}

for (const [name, body] of Object.entries(BODIES)) {
  test(`${name} of another realm is a body of Request, Response, fetch, request and serve`, { timeout: 60_000 }, async t => {
    const { url, dispatcher } = await echo(t)
    const made = () => ({ method: 'POST', body: body(), duplex: 'half' })
    assert.equal(await new Response(body()).text(), 'hi')
    assert.equal(await new Request(url, made()).text(), 'hi')
    assert.equal(await new Response(body()).clone().text(), 'hi')
    assert.equal(await (await fetch(url, { ...made(), dispatcher })).text(), 'hi')
    assert.equal(await (await request(url, { ...made(), dispatcher })).body.text(), 'hi')
    const server = serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(body()) })
    t.after(() => server.stop(true))
    assert.equal(await (await request(server.url.href, { dispatcher })).body.text(), 'hi')
  })
}

for (const form of ['http2', 'http']) {
  test(`a server of the form of node:${form} writes bytes of another realm`, { timeout: 60_000 }, async t => {
    const server = createServer({ requests: form === 'http' ? 'http' : undefined }, (incoming, outgoing) => {
      outgoing.write(bytes())
      outgoing.end(bytes())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => { server.close() })
    const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
    const stream = session.request({ ':method': 'POST' })
    stream.write(bytes())
    stream.end(bytes())
    assert.equal(await text(stream), 'hihi')
    session.close()
  })
}

test('the error of another realm with which a source fails is the cause of its fetch, and the reason of its signal is its error', { timeout: 60_000 }, async t => {
  const { url, dispatcher } = await echo(t)
  const error = foreign('new TypeError("broken")')
  const source = new ReadableStream({ pull (controller) { controller.error(error) } })
  await assert.rejects(fetch(url, { method: 'POST', body: source, duplex: 'half', dispatcher }), failed => failed.cause === error)
  await assert.rejects(fetch(url, { signal: AbortSignal.abort(error), dispatcher }), failed => failed === error)
  await assert.rejects(request(url, { signal: AbortSignal.abort(error), dispatcher }), failed => failed === error)
})

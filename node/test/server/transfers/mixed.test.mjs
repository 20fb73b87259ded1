// Exchanges of random kinds beside each other on the connections of one client: lengths on both sides of every bound that the engine, the
// channel and the servers have, handlers that read all, a part or nothing, and answer before or behind that, and clients that read slowly or
// leave. Each ends, and the answers of those that do not leave are whole, by each form of our servers on each version.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import test from 'node:test'
import { Agent, createSecureServer, fetchOver, Response, serve } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'

const VERSIONS = { 'HTTP/1.1': { allowH2: false, connections: 8 }, 'HTTP/2': { allowH2: true }, 'HTTP/3': { http3: 'only' } }
const EXCHANGES = 150
const AT_ONCE = 24
const LENGTHS = [0, 1, 5_000, 70_000, 300_000, 1_200_000]

/** xorshift32: the same choices for the same seed. */
function dice (seed) {
  let state = (seed + 1) * 0x9E3779B1 >>> 0
  return bound => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % bound
  }
}

/** Calls `done` a few turns later: a reader that is behind. */
const later = done => { setTimeout(done, 5) }

/** Writes `length` bytes in pieces, as fast as they are taken, and ends. */
function writePieces (response, length) {
  let left = length
  const more = () => {
    while (left > 0) {
      const piece = Math.min(left, 30_000)
      left -= piece
      if (!response.write(Buffer.alloc(piece))) return void response.once('drain', more)
    }
    response.end()
  }
  more()
}

/** Handlers of node's forms, by how much of a request they read; each answers with `length` bytes. */
const HANDLERS = {
  all: (request, response, length) => { request.on('end', () => { writePieces(response, length) }).resume() },
  nothing: (request, response, length) => { response.end(Buffer.alloc(length)) },
  'nothing, in pieces': (request, response, length) => { writePieces(response, length) },
  'behind the answer': (request, response, length) => { response.end(Buffer.alloc(length)); request.resume() },
  slowly: (request, response, length) => {
    request.on('data', () => { request.pause(); later(() => { request.resume() }) })
    request.on('end', () => { response.end(Buffer.alloc(length)) })
  }
}
/** Handlers of `serve`. */
const FETCHES = {
  all: async (request, length) => { await request.arrayBuffer(); return new Response(Buffer.alloc(length)) },
  nothing: (request, length) => new Response(Buffer.alloc(length)),
  'nothing, in pieces': (request, length) => {
    let left = length
    return new Response(new ReadableStream({
      pull (controller) {
        if (left <= 0) return controller.close()
        const piece = Math.min(left, 30_000)
        left -= piece
        controller.enqueue(new Uint8Array(piece))
      }
    }))
  },
  slowly: async (request, length) => {
    for await (const _ of request.body ?? []) await new Promise(later)
    return new Response(Buffer.alloc(length))
  }
}

const askedOf = url => {
  const { searchParams } = new URL(url, 'https://localhost')
  return [searchParams.get('reads'), Number(searchParams.get('answer'))]
}

function ofNode (requests) {
  return async () => {
    const server = createSecureServer({ cert, key, allowHTTP1: true, http3: true, requests }, (request, response) => {
      for (const one of [request, response]) one.on('error', () => {})
      const [reads, length] = askedOf(request.url)
      HANDLERS[reads](request, response, length)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { port: server.address().port, handlers: HANDLERS, close: () => new Promise(resolve => { server.close(resolve) }) }
  }
}

const SERVERS = {
  'node:http2\'s form': ofNode('http2'),
  'node:http\'s form': ofNode('http'),
  serve: async () => {
    const server = serve({ port: 0, http3: true, tls: { cert, key }, fetch: request => { const [reads, length] = askedOf(request.url); return FETCHES[reads](request, length) } })
    return { port: server.port, handlers: FETCHES, close: () => server.stop(true) }
  }
}

/** Bodies of a request: whole, a stream, and one whose pieces come later. */
const BODIES = [
  length => Buffer.alloc(length),
  length => Readable.from([Buffer.alloc(length - 1), Buffer.alloc(1)], { objectMode: false }),
  length => (async function * () { for (let left = length; left > 0; left -= 40_000) { yield Buffer.alloc(Math.min(left, 40_000)); await new Promise(setImmediate) } })()
]

/** How a client reads an answer: bytes of it, or null where it leaves. */
const READS = {
  async request (agent, options, isSlow) {
    const { body } = await agent.request(options)
    let length = 0
    for await (const piece of body) { length += piece.length; if (isSlow) await new Promise(later) }
    return length
  },
  async fetch (agent, { origin, path, ...init }) {
    const response = await fetchOver(agent)(origin + path, { ...init, duplex: 'half' })
    return (await response.arrayBuffer()).byteLength
  },
  async stream (agent, options, isSlow) {
    let length = 0
    await agent.stream(options, () => new Writable({ write (piece, _, done) { length += piece.length; isSlow ? later(done) : done() } }))
    return length
  },
  async dump (agent, options) {
    const { body } = await agent.request(options)
    await body.dump()
    return null
  },
  async abort (agent, options) {
    const controller = new AbortController()
    setImmediate(() => { setImmediate(() => { controller.abort() }) })
    await agent.request({ ...options, signal: controller.signal }).then(({ body }) => body.arrayBuffer()).catch(() => {})
    return null
  }
}

for (const [form, start] of Object.entries(SERVERS)) {
  for (const [version, options] of Object.entries(VERSIONS)) {
    test(`exchanges of every kind beside each other end, and are whole, at ${form} over ${version}`, { timeout: 90_000 }, async t => {
      const { port, handlers, close } = await start()
      const agent = new Agent({ connect: { ca: cert }, ...options })
      t.after(async () => {
        await agent.destroy()
        await close()
      })
      const below = dice(form.length * 8 + version.length)
      const of = list => list[below(list.length)]
      const exchange = async () => {
        const [reads, how, length, answer, isSlow] = [of(Object.keys(handlers)), of(Object.keys(READS)), of(LENGTHS), of(LENGTHS), below(4) === 0]
        const body = length === 0 ? null : of(BODIES)(length)
        const path = `/?reads=${encodeURIComponent(reads)}&answer=${answer}`
        const got = await READS[how](agent, { origin: `https://localhost:${port}`, path, method: length === 0 ? 'GET' : 'POST', body }, isSlow)
        if (got !== null) assert.equal(got, answer, `${how} of ${length} bytes, of which the handler reads ${reads}`)
      }
      let begun = 0
      await Promise.all(Array.from({ length: AT_ONCE }, async () => { while (begun++ < EXCHANGES) await exchange() }))
    })
  }
}

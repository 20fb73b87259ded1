// Every way in which a connection can end under a request, as handlers of servers see it: the tables of
// docs/ends.md for servers.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { Agent, createSecureServer, createServer, serve } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'
import { DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, SETTINGS, codes, frame, numbers } from '../../support/servers/h2_frames.mjs'
import * as wire from '../../support/servers/wire.mjs'

const { connecting, table } = wire
/** Ends of connections, and those of a client's process. */
const ends = { ...wire.ends, 'SIGKILL in cleartext': false, 'SIGKILL under TLS': true }
const dying = fileURLToPath(new URL('../../support/servers/dying.mjs', import.meta.url))

const PROBE = '/probe'

/** Outcomes of requests as handlers saw them, in the order of their ends; requests of the path of a probe apart. */
class Seen {
  #waiting = []
  #seen = []
  #probes = []
  /** Called when a part of a body has come. */
  onBody = () => {}
  report (path, outcome, text) {
    if (path === PROBE) return this.#probes.shift()?.()
    const next = this.#waiting.shift()
    if (next === undefined) this.#seen.push([outcome, text])
    else next([outcome, text])
  }

  /** The next request's outcome. */
  next () { return this.#seen.length > 0 ? this.#seen.shift() : new Promise(resolve => { this.#waiting.push(resolve) }) }
  /** When the handler of a probe has run. */
  probed () { return new Promise(resolve => { this.#probes.push(resolve) }) }
  get isEmpty () { return this.#seen.length === 0 }
}

/** A request as a stream: complete only if its end came and it was not aborted. */
function watch (seen, path, stream, isAborted, answer) {
  let text = ''
  let isEnded = false
  stream.setEncoding('latin1')
  stream.on('data', chunk => {
    text += chunk
    seen.onBody()
  })
  stream.on('error', () => {})
  stream.on('end', () => {
    isEnded = !isAborted()
    if (isEnded) {
      seen.report(path, 'whole', text)
      answer()
    }
  })
  stream.on('close', () => { if (!isEnded) seen.report(path, 'cut', text) })
}

const listen = async (server, seen) => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: server.address().port, seen, close: () => { (server.compatServer ?? server).destroy?.(); server.close() } }
}
const nodeServer = (tls, http3) => tls ? createSecureServer({ cert, key, allowHTTP1: true, http3 }) : createServer()

const faces = {
  compat (tls, http3) {
    const seen = new Seen()
    const server = nodeServer(tls, http3)
    server.on('request', (request, response) => {
      response.on('error', () => {})
      watch(seen, request.url, request, () => request.aborted || !request.complete, () => { response.end('answer') })
    })
    return listen(server, seen)
  },
  stream (tls, http3) {
    const seen = new Seen()
    const server = nodeServer(tls, http3)
    server.on('stream', (stream, headers) => {
      watch(seen, headers[':path'], stream, () => stream.aborted, () => {
        stream.respond({ ':status': 200 })
        stream.end('answer')
      })
    })
    return listen(server, seen)
  },
  async serve (tls, http3) {
    const seen = new Seen()
    const server = serve({
      hostname: '127.0.0.1',
      port: 0,
      http3,
      ...(tls ? { tls: { cert, key } } : {}),
      async fetch (request) {
        const path = new URL(request.url).pathname
        let text = ''
        try {
          const decoder = new TextDecoder()
          for await (const chunk of request.body ?? []) {
            text += decoder.decode(chunk, { stream: true })
            seen.onBody()
          }
          seen.report(path, 'whole', text)
        } catch {
          seen.report(path, 'cut', text)
        }
        return new Response('answer')
      }
    })
    return { port: server.port, seen, close: () => server.close({ deadlineMs: 0 }) }
  }
}

/** A server that ends with its test. */
async function started (t, face, tls, http3) {
  const server = await faces[face](tls, http3)
  t.after(() => server.close())
  return server
}

const LENGTH = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n'
const CHUNKED = 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n'
/** A client's bytes before its end, and the body among them. */
const h1 = () => ({
  'inside the head': [LENGTH.slice(0, -4), ''],
  'in a body with content-length': [`${LENGTH}hel`, 'hel'],
  'in a chunked body': [`${CHUNKED}3\r\nhel\r\n`, 'hel'],
  'in the trailers': [`${CHUNKED}3\r\nhel\r\n0\r\nx-sum: 1\r\n`, 'hel'],
  'behind the request': [`${LENGTH}hello`, 'hello']
})

const PREFACE = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, 0, 0, Buffer.alloc(0))])
/** A head in names and values that need no table (RFC 7541 appendix A). */
const section = (method, isSecure, path) =>
  Buffer.concat([Buffer.from([method, isSecure ? 0x87 : 0x86, 0x04, path.length]), Buffer.from(path), Buffer.from([0x41, 1]), Buffer.from('a')])
const [GET, POST] = [0x82, 0x83]
const h2 = isSecure => {
  const post = section(POST, isSecure, '/')
  const head = frame(HEADERS, END_HEADERS, 1, post)
  const data = (flags, text) => frame(DATA, flags, 1, Buffer.from(text))
  return {
    // The head goes on in CONTINUATION.
    'inside the head': [Buffer.concat([PREFACE, frame(HEADERS, 0, 1, post)]), ''],
    'in the body': [Buffer.concat([PREFACE, head, data(0, 'hel')]), 'hel'],
    'behind the request': [Buffer.concat([PREFACE, head, data(END_STREAM, 'hello')]), 'hello']
  }
}
const probes = {
  'http/1.1': () => `GET ${PROBE} HTTP/1.1\r\nhost: a\r\n\r\n`,
  h2: isSecure => Buffer.concat([PREFACE, frame(HEADERS, END_HEADERS | END_STREAM, 1, section(GET, isSecure, PROBE))])
}

/** Sends `sent` from a process that is killed behind it. */
async function die (port, protocol, isSecure, sent) {
  const args = [dying, port, protocol, isSecure ? 'tls' : 'cleartext', Buffer.from(sent).toString('hex')]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Sends `sent` and its end over a connection of its own; the handler's outcome. */
async function exchange ({ port, seen }, protocol, isSecure, sent, end, expected) {
  let answer = ''
  let closed = Promise.resolve()
  let socket
  if (end.startsWith('SIGKILL')) await die(port, protocol, isSecure, sent)
  else {
    const own = await connecting(port, isSecure, protocol)
    socket = own.socket
    socket.on('data', chunk => { answer += chunk.toString('latin1') })
    closed = Promise.race(['end', 'close', 'error'].map(event => new Promise(resolve => { socket.once(event, resolve) })))
    await new Promise(resolve => { socket.write(sent, resolve) })
    own.end(end)
  }
  if (expected === 'none') {
    // A request on another connection, whose handler runs behind it.
    const probed = seen.probed()
    const probe = await connecting(port, isSecure, protocol)
    probe.socket.resume().write(probes[protocol](isSecure))
    await probed
    probe.socket.destroy()
    socket?.destroy()
    return [seen.isEmpty ? 'none' : (await seen.next())[0], '']
  }
  const [outcome, text] = await seen.next()
  if (expected === 'answered') await closed
  socket?.destroy()
  return [outcome === 'whole' && /^HTTP\/1.1 200 [^]*answer/.test(answer) ? 'answered' : outcome, text]
}

function assertSeen (expected, body, [outcome, text], about) {
  assert.equal(outcome, expected, about)
  if (expected !== 'none') assert.equal(text, body, `what came is delivered: ${about}`)
}

for (const face of ['compat', 'serve']) {
  test(`a handler of ${face} on HTTP/1.1 sees what the table says`, async t => {
    const cells = table('A server on HTTP/1.1', true)
    const servers = [await started(t, face, false), await started(t, face, true)]
    for (const [end, isSecure] of Object.entries(ends)) {
      assert.deepEqual(Object.keys(cells[end]).sort(), Object.keys(h1()).sort())
      for (const [place, [sent, body]] of Object.entries(h1())) {
        const expected = cells[end][place]
        const outcome = await exchange(servers[Number(isSecure)], 'http/1.1', isSecure, sent, end, expected)
        // node:http closes the socket of a client that has ended its side, before or behind the answer.
        if (face === 'compat' && outcome[0] === 'whole' && expected === 'answered') outcome[0] = 'answered'
        // After an error it is chance whether the answer left before.
        if (expected === 'whole' && outcome[0] === 'answered') outcome[0] = 'whole'
        assertSeen(expected, body, outcome, `${end}, ${place}`)
      }
    }
    assert.deepEqual(Object.keys(cells).sort(), Object.keys(ends).sort())
  })
}

for (const face of Object.keys(faces)) {
  test(`a handler of ${face} on HTTP/2 sees what the table says`, async t => {
    const cells = table('A server on HTTP/2', true)
    const servers = [await started(t, face, false), await started(t, face, true)]
    const rows = Object.entries(ends).map(([end, isSecure]) => [end, isSecure, [Buffer.alloc(0)], end])
    rows.push(
      ['RST_STREAM of any code', false, codes.map(code => frame(RST_STREAM, 0, 1, numbers(code))), 'FIN'],
      ['GOAWAY of any code, then FIN', false, codes.map(code => frame(GOAWAY, 0, 0, numbers(0, code))), 'FIN']
    )
    assert.deepEqual(rows.map(([name]) => name).sort(), Object.keys(cells).sort())
    for (const [name, isSecure, endings, end] of rows) {
      assert.deepEqual(Object.keys(cells[name]).sort(), Object.keys(h2(isSecure)).sort())
      for (const [place, [sent, body]] of Object.entries(h2(isSecure))) {
        for (const ending of endings) {
          const bytes = Buffer.concat([sent, ending])
          const outcome = await exchange(servers[Number(isSecure)], 'h2', isSecure, bytes, end, cells[name][place])
          assertSeen(cells[name][place], body, outcome, `${name}, ${place}, ${ending.toString('hex')}`)
        }
      }
    }
  })

  // Ends of HTTP/3 that a client of JavaScript can cause.
  test(`a handler of ${face} on HTTP/3 sees what the table says of a reset and of a closed connection`, async t => {
    const cells = table('A server on HTTP/3')
    const server = await started(t, face, true, true)
    const ways = {
      FIN: () => {},
      'RESET_STREAM of any code': controller => { controller.abort() },
      'CONNECTION_CLOSE of HTTP/3, any code': (_, agent) => { agent.destroy().catch(() => {}) }
    }
    for (const [name, way] of Object.entries(ways)) {
      for (const [place, body] of [['behind a DATA frame', 'hel'], ['behind the message', 'hello']]) {
        // The answer comes with the end of the request, behind which nothing is left to reset.
        if (place === 'behind the message' && name !== 'FIN') continue
        const agent = new Agent({ http3: 'only', connect: { ca: cert } })
        const controller = new AbortController()
        let arrived
        const isHere = new Promise(resolve => { arrived = resolve })
        server.seen.onBody = arrived
        const upload = (async function * () {
          yield Buffer.from(body)
          if (name === 'FIN') return
          await new Promise(() => {})
        })()
        const sent = agent.request({ origin: `https://localhost:${server.port}`, path: '/', method: 'POST', body: upload, signal: controller.signal })
        const answered = sent.then(async ({ body }) => (await body.text()) === 'answer', () => false)
        if (name !== 'FIN') await isHere
        way(controller, agent)
        let [outcome, text] = await server.seen.next()
        if (outcome === 'whole' && await answered) outcome = 'answered'
        assertSeen(cells[name][place], body, [outcome, text], `${name}, ${place}`)
        await agent.destroy().catch(() => {})
      }
    }
  })
}

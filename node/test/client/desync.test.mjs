// The framing of responses, judged by a second parser: generated responses go to this package's client and to node:http,
// whose parser is llhttp. What ours takes as a whole response, llhttp takes as the same one. `TRUNKLINE_SEED=n` replays a
// case, `TRUNKLINE_CASES=n` tries more.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as judged } from 'node:http'
import { createServer } from 'node:net'
import test from 'node:test'
import { Agent } from 'trunkline'
import { generator, maker } from '../support/generated/messages.mjs'

const CASES = Number(process.env.TRUNKLINE_CASES ?? 1000)
const SMUGGLED = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
const LINES = ['HTTP/1.1 200 OK', 'HTTP/1.0 200 OK', 'HTTP/1.1 204 No Content', 'HTTP/1.1 304 Not Modified', 'HTTP/1.1 103 Early Hints', 'HTTP/1.1 100 Continue', 'HTTP/1.1 200', 'HTTP/1.1 200 ', 'HTTP/1.1  200 OK', 'HTTP/1.1 20 OK', 'HTTP/1.1 2000 OK', 'HTTP/1.2 200 OK', 'http/1.1 200 OK', ' HTTP/1.1 200 OK', 'HTTP/1.1\t200 OK', 'ICY 200 OK', 'HTTP/1.1 404 Not\x00Found', 'HTTP/1.1 205 Reset Content']
const OTHERS = ['x: y', 'connection: close', 'connection: keep-alive', 'connection: content-length', 'connection: transfer-encoding', 'trailer: x', 'x: a\rb', 'x: a\nb: c', 'x\x00: y', ': y', 'x', 'upgrade: h2c', 'x:\x7f', 'x: \xff']
const message = maker(LINES, OTHERS, SMUGGLED)

/** Bytes that the server sends on the connection of a case, before it closes it. */
function input (seed) {
  const random = generator(seed)
  let text = ''
  for (let count = 1 + random.below(2); count > 0; count--) text += message(random)
  return text + (random.chance(2) ? SMUGGLED : '')
}

/** Answers each request with the bytes of the case that its path names, then ends the connection in order. */
async function answering () {
  const server = createServer(socket => {
    let asked = ''
    socket.on('error', () => {})
    socket.setEncoding('latin1').on('data', text => {
      asked += text
      if (!asked.includes('\r\n\r\n')) return
      socket.removeAllListeners('data').resume()
      socket.end(input(Number(/^\S+ \/(\d+)/.exec(asked)[1])), 'latin1')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** A response as both see it; undefined where it is refused, or cut off. */
const seen = (status, body) => ({ status, body })

/** A field on two lines: a client reads the break as a space (RFC 9112 section 5.2), and llhttp refuses it. */
const FOLDED = /\r\n[ \t]+(?:content-length|transfer-encoding|chunked)/
/** An interim response that announces the end of the connection: the final one is still read here (RFC 9110 section 15.2), and
 * llhttp reads nothing more. */
const INTERIM_CLOSE = /^HTTP\/1\.1 10[03] (?:(?!\r\n\r\n)[^])*\r\nconnection: close/

/** A coding that is empty, which lists of RFC 9110 section 5.6.1 may have: llhttp refuses it from 9.4 on, and that of undici reads over it, as
 * we do. */
const EMPTY_CODING = /^(?:(?!\r\n\r\n)[^])*\r\ntransfer-encoding:[ \t]*\r\n/

/** A POST is not sent again where nothing of a response came. */
const methodOf = seed => seed % 8 === 0 ? 'HEAD' : 'POST'

function llhttp (port, seed) {
  return new Promise(resolve => {
    const request = judged({ port, host: '127.0.0.1', path: `/${seed}`, method: methodOf(seed), agent: false, insecureHTTPParser: false })
    let isAnswered = false
    // Bytes behind a whole response are an error of the request too.
    request.on('error', () => { if (!isAnswered) resolve(undefined) })
    request.on('response', response => {
      isAnswered = true
      const pieces = []
      response.setEncoding('latin1')
      response.on('data', piece => { pieces.push(piece) })
      response.on('error', () => {})
      response.on('close', () => { resolve(response.complete ? seen(response.statusCode, pieces.join('')) : undefined) })
    })
    request.end()
  })
}

async function ours (agent, port, seed) {
  try {
    const { statusCode, body } = await agent.request({ origin: `http://127.0.0.1:${port}`, path: `/${seed}`, method: methodOf(seed) })
    return seen(statusCode, Buffer.from(await body.arrayBuffer()).toString('latin1'))
  } catch {
    return undefined
  }
}

test('no response is whole to this client that llhttp does not end at the same place', async t => {
  const server = await answering()
  const { port } = server.address()
  const agent = new Agent()
  t.after(async () => {
    await agent.close()
    server.close()
  })
  const one = process.env.TRUNKLINE_SEED
  const seeds = one === undefined ? Array.from({ length: CASES }, (_, seed) => seed) : [Number(one)]
  let same = 0
  const different = []
  for (const seed of seeds) {
    const [theirs, own] = await Promise.all([llhttp(port, seed), ours(agent, port, seed)])
    // We may refuse what llhttp takes.
    if (own === undefined) continue
    if (theirs === undefined && [FOLDED, INTERIM_CLOSE, EMPTY_CODING].some(kind => kind.test(input(seed)))) continue
    if (theirs !== undefined && own.status === theirs.status && own.body === theirs.body) same++
    else different.push({ seed, theirs, own })
  }
  for (const { seed, theirs, own } of different.slice(0, 5)) {
    console.error(`TRUNKLINE_SEED=${seed}\n${methodOf(seed)} ${JSON.stringify(input(seed))}\nllhttp ${JSON.stringify(theirs)}\nours   ${JSON.stringify(own)}`)
  }
  assert.equal(different.length, 0)
  assert.ok(same > seeds.length / 20 || one !== undefined, `${same} responses were whole to both`)
})

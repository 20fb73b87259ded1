// Every way in which a connection can end under a response, as users of request and fetch see it: the
// tables of docs/ends.md for clients.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Agent } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as frames from '../../support/servers/h2_frames.mjs'
import { AGAIN, ask, assertCell, faces } from '../../support/clients/asking.mjs'
import { ends, listening, serveMessages, tableWithKinds as table } from '../../support/servers/wire.mjs'
import { together } from '../../support/together.mjs'

const { DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, END_STREAM, END_HEADERS, REFUSED_STREAM, frame, numbers, serveFrames } = frames
const LENGTH = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n'
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
/** A server's bytes before its end, and the body among them. */
const h1 = {
  'before the head': ['', ''],
  'inside the head': [LENGTH.slice(0, -4), ''],
  'in a body with content-length': [`${LENGTH}hel`, 'hel'],
  'in a chunked body': [`${CHUNKED}3\r\nhel\r\n`, 'hel'],
  'in the trailers': [`${CHUNKED}3\r\nhel\r\n0\r\nx-sum: 1\r\n`, 'hel'],
  'in a body that the end delimits': ['HTTP/1.1 200 OK\r\n\r\nhel', 'hel'],
  'behind the response': [`${LENGTH}hello`, 'hello']
}

const codes = frames.codes.filter(code => code !== frames.HTTP_1_1_REQUIRED)
const OK = Buffer.from([0x88])
const data = (flags, text) => frame(DATA, flags, 1, Buffer.from(text))
const head = frame(HEADERS, END_HEADERS, 1, OK)
const h2 = {
  'before the head': [Buffer.alloc(0), ''],
  'inside the head': [frame(HEADERS, 0, 1, OK), ''],
  'in the body': [Buffer.concat([head, data(0, 'hel')]), 'hel'],
  'behind the response': [Buffer.concat([head, data(END_STREAM, 'hello')]), 'hello']
}

/** One request over a server of its own; what the user saw and how many requests came. */
async function exchange (face, isSecure, protocol, serve) {
  const tls = isSecure ? { key, cert } : undefined
  let requests = 0
  const server = await listening(tls, protocol, (connection, number) => serve(connection, number, () => ++requests))
  const isH2 = protocol === 'h2'
  const dispatcher = new Agent({ connections: 1, allowH2: isH2, useH2c: isH2 && !isSecure, connect: { ca: cert } })
  try {
    return { seen: await ask(face, server.url, dispatcher), requests }
  } finally {
    await dispatcher.destroy()
    await server.close()
  }
}

function assertSeen (face, cell, body, { seen, requests }, about) {
  assertCell(face, cell, body, seen, about)
  assert.equal(requests, cell === 'again' ? 2 : 1, `requests: ${about}`)
}

for (const face of faces) {
  test(`${face} on HTTP/1.1 sees what the table says`, async () => {
    const cells = table('A client on HTTP/1.1')
    const cases = Object.entries(ends).flatMap(end => Object.entries(h1).map(place => [end, place]))
    await together(cases, async ([[end, isSecure], [place, [sent, body]]]) => {
      const about = `${end}, ${place}`
      const outcome = await exchange(face, isSecure, 'http/1.1', ({ socket, end: finish }, _, count) => {
        serveMessages(socket, () => {
          count()
          // Even nothing is written, so that the end comes behind the request.
          socket.write(sent === '' ? '\r\n' : sent, () => finish(end))
        })
      })
      assertSeen(face, cells[end][place], body, outcome, about)
    })
    assert.equal(cases.length, Object.values(cells).reduce((sum, row) => sum + Object.keys(row).length, 0))
  })

  test(`${face} on HTTP/2 sees what the table says`, async () => {
    const cells = table('A client on HTTP/2')
    const rows = Object.entries(ends).map(([end, isSecure]) => [end, isSecure, [Buffer.alloc(0)], end])
    rows.push(
      ['RST_STREAM REFUSED_STREAM', false, [frame(RST_STREAM, 0, 1, numbers(REFUSED_STREAM))]],
      ['RST_STREAM of any other code', false, codes.filter(code => code !== REFUSED_STREAM).map(code => frame(RST_STREAM, 0, 1, numbers(code)))],
      ['GOAWAY of any code, last stream 1', false, codes.map(code => frame(GOAWAY, 0, 0, numbers(1, code))), 'FIN'],
      ['GOAWAY of an error\'s code, last stream 1, and no end', false, codes.filter(code => code !== 0).map(code => frame(GOAWAY, 0, 0, numbers(1, code)))],
      ['GOAWAY of any code, last stream 0', false, codes.map(code => frame(GOAWAY, 0, 0, numbers(0, code))), 'FIN'],
      ['a malformed frame', false, [frames.malformed]]
    )
    assert.deepEqual(rows.map(([name]) => name).sort(), Object.keys(cells).sort())
    const cases = rows.flatMap(row => Object.entries(h2).flatMap(place => row[2].map(ending => [row, place, ending])))
    await together(cases, async ([[name, isSecure, , end], [place, [sent, body]], ending]) => {
      const seen = await exchange(face, isSecure, 'h2', ({ socket, end: finish }, number, count) => {
        serveFrames(socket, stream => {
          if (count() > 1 || number > 0) {
            const again = [frame(HEADERS, END_HEADERS, stream, OK), frame(DATA, END_STREAM, stream, Buffer.from(AGAIN))]
            return socket.write(Buffer.concat(again))
          }
          // An acknowledgement of nothing, so that something is written before the end.
          const first = frame(SETTINGS, 0, 0, Buffer.alloc(0))
          socket.write(Buffer.concat([first, sent, ending]), () => { if (end !== undefined) finish(end) })
        })
      })
      assertSeen(face, cells[name][place], body, seen, `${name}, ${place}, ${ending.toString('hex')}`)
    })
  })

  test(`${face} sees what the table says of a server that is killed`, async () => {
    for (const [protocol, heading, scripts] of [['http/1.1', 'A client on HTTP/1.1', h1], ['h2', 'A client on HTTP/2', h2]]) {
      const cells = table(heading, true)
      for (const [end, isSecure] of [['SIGKILL in cleartext', false], ['SIGKILL under TLS', true]]) {
        assert.deepEqual(Object.keys(scripts).sort(), Object.keys(cells[end]).sort())
        await Promise.all(Object.entries(scripts).map(async ([place, [sent, body]]) => {
          assertCell(face, cells[end][place], body, await askDying(face, protocol, isSecure, sent), `${end}, ${place}`)
        }))
      }
    }
  })
}

/** One request to a server in a process of its own, which is killed behind what it sends. */
async function askDying (face, protocol, isSecure, sent) {
  const program = fileURLToPath(new URL('../../support/servers/dying_server.mjs', import.meta.url))
  const args = [program, protocol, isSecure ? 'tls' : 'cleartext', Buffer.from(sent).toString('hex')]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const [port] = await once(child.stdout, 'data')
  const isH2 = protocol === 'h2'
  const dispatcher = new Agent({ connections: 1, allowH2: isH2, useH2c: isH2 && !isSecure, connect: { ca: cert } })
  try {
    const seen = ask(face, `http${isSecure ? 's' : ''}://localhost:${Number(port)}/`, dispatcher)
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    return await seen
  } finally {
    child.kill('SIGKILL')
    await dispatcher.destroy()
  }
}

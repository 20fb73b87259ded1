// Every way in which a connection can end under a request, as handlers of servers see it: the tables of
// docs/ends.md for servers.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { PROBE, assertError, faces, started } from '../../support/servers/ended.mjs'
import { DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, SETTINGS, codes, frame, malformed, numbers } from '../../support/servers/h2_frames.mjs'
import * as wire from '../../support/servers/wire.mjs'

const { connecting, tableWithKinds: table } = wire
/** Ends of connections, and those of a client's process. */
const ends = { ...wire.ends, 'SIGKILL in cleartext': false, 'SIGKILL under TLS': true }
const dying = fileURLToPath(new URL('../../support/servers/dying.mjs', import.meta.url))

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
  const [outcome, text, error] = await seen.next()
  if (expected === 'answered') await closed
  socket?.destroy()
  return [outcome === 'whole' && /^HTTP\/1.1 200 [^]*answer/.test(answer) ? 'answered' : outcome, text, error]
}

function assertSeen (face, cell, body, [outcome, text, error], about) {
  const [expected, kind] = cell.split(': ')
  assert.equal(outcome, expected, about)
  if (expected !== 'none') assert.equal(text, body, `what came is delivered: ${about}`)
  if (kind !== undefined) assertError(face, kind, error, about)
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
        assertSeen(face === 'compat' ? 'compat on HTTP/1.1' : face, expected, body, outcome, `${end}, ${place}`)
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
      ['GOAWAY of any code, then FIN', false, codes.map(code => frame(GOAWAY, 0, 0, numbers(0, code))), 'FIN'],
      ['a malformed frame', false, [malformed], 'FIN']
    )
    assert.deepEqual(rows.map(([name]) => name).sort(), Object.keys(cells).sort())
    for (const [name, isSecure, endings, end] of rows) {
      assert.deepEqual(Object.keys(cells[name]).sort(), Object.keys(h2(isSecure)).sort())
      for (const [place, [sent, body]] of Object.entries(h2(isSecure))) {
        for (const ending of endings) {
          const bytes = Buffer.concat([sent, ending])
          const outcome = await exchange(servers[Number(isSecure)], 'h2', isSecure, bytes, end, cells[name][place])
          assertSeen(face, cells[name][place], body, outcome, `${name}, ${place}, ${ending.toString('hex')}`)
        }
      }
    }
  })
}

// Whether a server, or its open connections, keep its process, each on node:http or node:http2 and on trunkline/http2.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import { describe, test } from 'node:test'

/** A process that ends by itself ends long before. */
const HELD_MS = 2_000
const HELD = 3

/** A server that gets one request of `kind`; `acts` on its socket, and ends with HELD where something keeps its process. */
const program = (module, kind, state, acts) => `
  import { createServer } from '${module}'
  const server = createServer()
  let session
  server.on('session', own => { session = own })
  const act = socket => {
    ${acts.join('\n    ')}
    setTimeout(() => { process.exit(${HELD}) }, ${HELD_MS}).unref()
  }
  server.on('request', (request, response) => {
    const socket = ${kind === 'http2' ? 'request.stream.session.socket' : 'request.socket'}
    if (${state === 'open'}) { response.write('begun'); act(socket) } else response.end('whole', () => { setImmediate(act, socket) })
  })
  server.on('upgrade', (request, socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 101 Switching Protocols\\r\\nconnection: upgrade\\r\\nupgrade: own\\r\\n\\r\\n')
    act(socket)
  })
  server.listen(0, '127.0.0.1', () => { console.log(server.address().port) })`

const ask = {
  http2: port => {
    const session = http2.connect(`http://127.0.0.1:${port}`)
    session.on('error', () => {})
    session.request().on('error', () => {}).resume()
    return session
  },
  http: (port, state) => {
    const socket = net.connect(port, '127.0.0.1').on('error', () => {}).resume()
    socket.write(`GET / HTTP/1.1\r\nhost: a\r\n${state === 'upgraded' ? 'connection: upgrade\r\nupgrade: own\r\n' : ''}\r\n`)
    return socket
  }
}

/** Whether something keeps the process. */
async function isHeld (module, kind, state, acts) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program(module, kind, state, acts)], { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const [port] = await once(child.stdout, 'data')
  const client = ask[kind](Number(port), state)
  const [code, signal] = await ended
  client.destroy()
  assert.equal(signal, null)
  assert.ok(code === 0 || code === HELD, `it ended with ${code}`)
  return code === HELD
}

const ACTS = {
  'nothing is unref-ed': [],
  'the server is unref-ed': ['server.unref()'],
  'the server and the connection are unref-ed': ['server.unref()', 'socket.unref()'],
  'the connection, then the server are unref-ed': ['socket.unref()', 'server.unref()'],
  'the connection alone is unref-ed': ['socket.unref()'],
  'the connection is ref-ed again': ['socket.unref()', 'server.unref()', 'socket.ref()'],
  'the server is ref-ed again': ['socket.unref()', 'server.unref()', 'server.ref()']
}
const OF_KINDS = {
  http: { 'the connection ends behind the server': ['server.unref()', 'socket.destroy()'] },
  http2: {
    'the session ends behind the server': ['server.unref()', 'session.destroy()'],
    'the server and the session are unref-ed': ['server.unref()', 'session.unref()']
  }
}
/** Names of acts for connections without a request. */
const WITHOUT_REQUEST = new Set(['the server is unref-ed', 'the server and the connection are unref-ed', 'the connection is ref-ed again'])
const STATES = { http: ['open', 'idle', 'upgraded'], http2: ['open', 'idle'] }

// Most of the time is that of the timers.
describe('what keeps the process', { concurrency: 6 }, () => {
  for (const [kind, states] of Object.entries(STATES)) {
    for (const state of states) {
      for (const [name, acts] of Object.entries({ ...ACTS, ...OF_KINDS[kind] })) {
        if (state !== 'open' && !WITHOUT_REQUEST.has(name)) continue
        test(`${kind}, ${state}, ${name}: the process is held as by the built-in module`, { timeout: 60_000 }, async () => {
          const [builtIn, ours] = await Promise.all([`node:${kind}`, 'trunkline/http2'].map(module => isHeld(module, kind, state, acts)))
          assert.equal(ours, builtIn)
        })
      }
    }
  }
})

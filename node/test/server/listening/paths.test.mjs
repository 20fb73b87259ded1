// Servers that listen at a path or on a descriptor, asked by others and by ours.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { request as undiciRequest, Agent as UndiciAgent } from 'undici'
import { Agent, createSecureServer, createServer, request, serve } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'

const skip = process.platform === 'win32' && 'there are no Unix sockets'

/** A path of its own for each test, whose folder is gone after it. */
function newPath (t) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-path-'))
  t.after(() => { rmSync(folder, { recursive: true, force: true }) })
  return join(folder, 's')
}

/** Closes a server of node:http2's API also when its test fails. */
function closing (t, server) {
  t.after(() => { server.close() })
  return server
}

const hello = (incoming, response) => { response.end(`${incoming.httpVersion} ${incoming.socket.remoteAddress}`) }

const curl = async (...args) => (await promisify(execFile)('curl', ['-sS', '--max-time', '60', ...args])).stdout

test('curl asks over HTTP/1.1 and HTTP/2, in cleartext', { skip }, async t => {
  const path = newPath(t)
  const server = closing(t, createServer(hello)).listen(path)
  await once(server, 'listening')
  assert.equal(await curl('--unix-socket', path, 'http://localhost/'), '1.1 undefined')
  assert.equal(await curl('--http2-prior-knowledge', '--unix-socket', path, 'http://localhost/'), '2.0 undefined')
})

test('curl asks over HTTP/1.1 and HTTP/2, under TLS', { skip }, async t => {
  const path = newPath(t)
  const server = closing(t, createSecureServer({ cert, key, allowHTTP1: true }, hello)).listen({ path })
  await once(server, 'listening')
  for (const [flag, version] of [['--http1.1', '1.1'], ['--http2', '2.0']]) {
    assert.equal(await curl('-k', flag, '--unix-socket', path, 'https://localhost/'), `${version} undefined`)
  }
})

test('undici and ours ask through socketPath', { skip }, async t => {
  const path = newPath(t)
  const server = serve({ path, fetch: (asked, info) => Response.json([asked.url, info.remoteAddress ?? null, info.localPort ?? null]) })
  t.after(() => server.destroy())
  assert.deepEqual([server.path, server.port, server.hostname, server.url.href], [path, undefined, undefined, 'http://localhost/'])
  const others = new UndiciAgent({ connect: { socketPath: path } })
  const own = new Agent({ connect: { socketPath: path } })
  t.after(() => Promise.all([others.destroy(), own.destroy()]))
  for (const [ask, dispatcher] of [[undiciRequest, others], [request, own]]) {
    const { body } = await ask(server.url, { dispatcher })
    assert.deepEqual(await body.json(), ['http://localhost/', null, null])
  }
  await server.close()
  assert.equal(existsSync(path), false)
})

test('the path is free when close returns, and the next server takes it', { skip }, async t => {
  const path = newPath(t)
  for (let round = 0; round < 3; round++) {
    const server = closing(t, createServer(hello)).listen(path)
    await once(server, 'listening')
    assert.equal(await curl('--unix-socket', path, 'http://localhost/'), '1.1 undefined')
    server.close()
    assert.equal(existsSync(path), false)
  }
})

test('what somebody else has put at the path stays', { skip }, async t => {
  const path = newPath(t)
  const server = serve({ path, fetch: () => new Response() })
  t.after(() => server.destroy())
  rmSync(path)
  const other = net.createServer().listen(path)
  t.after(() => { other.close() })
  await once(other, 'listening')
  await server.close()
  assert.equal(existsSync(path), true)
})

test('serve says what is wrong with a path, and that a path has no HTTP/3', { skip }, t => {
  const path = newPath(t)
  const server = serve({ path, fetch: () => new Response(), readableAll: true, writableAll: true })
  t.after(() => server.destroy())
  assert.equal(statSync(path).mode & 0o666, 0o666)
  const ask = options => serve({ fetch: () => new Response(), ...options })
  assert.throws(() => ask({ path }), /exists already/)
  assert.throws(() => ask({ path: `${path}/x` }), /listening on .* failed/)
  assert.throws(() => ask({ path: `${path}${'x'.repeat(120)}` }), /has \d+ bytes; the path of a Unix socket has at most/)
  assert.throws(() => ask({ path: `${path}2`, tls: { cert, key }, http3: true }), /a Unix socket has no UDP/)
  assert.equal(existsSync(`${path}2`), false)
  assert.throws(() => ask({ fd: 9999 }), /the descriptor 9999 is no socket that can be listened on/)
})

test('the server of another is taken over with its port', { skip }, async t => {
  const other = net.createServer(() => { assert.fail('it accepts no more') })
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address()
  const server = closing(t, createServer(hello)).listen(other)
  await once(server, 'listening')
  assert.equal(server.address().port, port)
  for (let round = 0; round < 8; round++) {
    assert.equal(await curl(`http://127.0.0.1:${port}/`), '1.1 127.0.0.1')
  }
  server.close()
  await once(server, 'close')
  const socket = net.connect(port, '127.0.0.1')
  t.after(() => { socket.destroy() })
  const [error] = await once(socket, 'error')
  assert.equal(error.code, 'ECONNREFUSED')
})

/** Runs a program that inherits a port as its third descriptor; how it ended, and what it said. */
async function inheriting (t, program, ...args) {
  const opener = net.createServer().listen(0, '127.0.0.1')
  t.after(() => { opener.close() })
  await once(opener, 'listening')
  const { port } = opener.address()
  const env = { ...process.env }
  delete env.NODE_TEST_CONTEXT
  const child = spawn(process.execPath, [fileURLToPath(new URL(program, import.meta.url)), String(port), ...args], { env, stdio: ['ignore', 'pipe', 'inherit', opener._handle.fd] })
  t.after(() => { child.kill('SIGKILL') })
  // The child has it, and this process must not accept on it.
  opener.close()
  const [printed, [code]] = await Promise.all([child.stdout.toArray(), once(child, 'exit')])
  return { code, printed: Buffer.concat(printed).toString().trim().split('\n') }
}

test('workers of a cluster share a descriptor that they inherit, and a path', { skip, timeout: 60_000 }, async t => {
  const { code, printed } = await inheriting(t, '../../life/server/fd-cluster.mjs', newPath(t))
  assert.deepEqual([code, printed], [0, ['1 listening listening', '2 listening listening', '1 2']])
})

test('serve takes a descriptor', { skip, timeout: 60_000 }, async t => {
  const { code, printed } = await inheriting(t, '../../life/server/fd.mjs')
  assert.deepEqual([code, printed], [0, ['true true', '200 GET /', 'closed']])
})

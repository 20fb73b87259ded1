// Servers on a TCP and a UDP socket that the process was given, as a service manager opens them.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { Agent } from 'trunkline'
import { certFile } from '../../support/certificates/certificate.mjs'

const program = fileURLToPath(new URL('../../support/servers/activated.mjs', import.meta.url))
const ca = readFileSync(certFile)
const VERSIONS = { 'http/1.1': { allowH2: false }, h2: { allowH2: true }, h3: { http3: 'only' } }
const skip = process.platform === 'win32' && 'there are no descriptors'

/** Node.js 26 has it behind a symbol alone. */
function descriptorOf (socket) {
  const states = Object.getOwnPropertySymbols(socket).map(name => socket[name])
  return states.find(state => typeof state?.handle?.fd === 'number').handle.fd
}

/** A port of TCP, with a UDP socket of the same number or of another. */
async function sockets (samePort = true) {
  for (;;) {
    const tcp = net.createServer().listen(0, '127.0.0.1')
    await once(tcp, 'listening')
    const udp = dgram.createSocket('udp4').bind(samePort ? tcp.address().port : 0, '127.0.0.1')
    const isBound = await new Promise(resolve => udp.once('listening', () => { resolve(true) }).once('error', () => { resolve(false) }))
    if (isBound) return { tcp, udp, port: tcp.address().port, fds: [tcp._handle.fd, descriptorOf(udp)] }
    tcp.close()
  }
}

/** A server that has both as its descriptors 3 and 4; `next()` is what it prints next. */
async function started (t, form, samePort) {
  const { tcp, udp, port, fds } = await sockets(samePort)
  const env = { ...process.env }
  delete env.NODE_TEST_CONTEXT
  const child = spawn(process.execPath, [program, form], { env, stdio: ['pipe', 'pipe', 'inherit', ...fds] })
  t.after(() => { child.kill('SIGKILL') })
  // The child has them, and this process must neither accept nor read.
  tcp.close()
  udp.close()
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return { child, port, next: async () => (await lines.next()).value }
}

for (const form of ['serve', 'secure']) {
  test(`${form} answers every version on a TCP and a UDP socket that it was given, and closes both`, { skip, timeout: 60_000 }, async t => {
    const { child, port, next } = await started(t, form)
    assert.equal(await next(), `listening ${port}`)
    for (const [version, options] of Object.entries(VERSIONS)) {
      const agent = new Agent({ ...options, connect: { ca } })
      const { statusCode, body } = await agent.request({ origin: `https://localhost:${port}`, path: '/', method: 'GET' })
      assert.equal(statusCode, 200)
      assert.equal(await body.text(), version)
      await agent.close()
    }
    child.stdin.end('close\n')
    assert.equal(await next(), 'closed true true')
    const [code] = await once(child, 'exit')
    assert.equal(code, 0)
  })
}

test('a UDP socket of another port is refused with both ports', { skip, timeout: 60_000 }, async t => {
  const { port, next } = await started(t, 'serve', false)
  assert.match(await next(), new RegExp(`^refused the descriptor 4 is at 127\\.0\\.0\\.1:\\d+, and the server's port is ${port}: both have one port$`))
})

test('a UDP socket without HTTP/3 is refused, as nothing would read it', { skip, timeout: 60_000 }, async t => {
  const { next } = await started(t, 'tcp-alone')
  assert.match(await next(), /^refused udpFd is given and http3 is off/)
})

test('a TCP socket in the place of the UDP socket is refused', { skip, timeout: 60_000 }, async t => {
  const { next } = await started(t, 'twice')
  assert.match(await next(), /^refused listen EINVAL: the descriptor 3 is no UDP socket/)
})

// One server process takes the place of another: its listening sockets and the packets of its HTTP/3 connections go with it.
import { certFile } from '../../support/certificates/certificate.mjs'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { Agent, createServer, serve } from 'trunkline'

const program = fileURLToPath(new URL('../../support/servers/successor.mjs', import.meta.url))
const ca = readFileSync(certFile)
const RESTARTS = process.env.TRUNKLINE_LONG === '1' ? 10 : 4
const VERSIONS = { h1: { allowH2: false }, h2: {}, h3: { http3: 'only' } }

function folderFor (t) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-hand-over-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return join(folder, 'path')
}

/** One process; `next()` is what it prints next. */
function start (t, form, place, path) {
  const child = spawn(process.execPath, [program, form, JSON.stringify(place), path], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const ended = once(child, 'close')
  return { child, ended, next: async () => JSON.parse((await lines.next()).value) }
}

/** Idle connections may be closed while a request is on its way to them: it is sent again. */
function agentFor (version) {
  return new Agent({ ...VERSIONS[version], retryLost: true, connect: { ca } })
}

async function ask (agent, origin) {
  const { statusCode, body } = await agent.request({ origin, path: '/', method: 'GET' })
  const text = await body.text()
  if (statusCode !== 200 || text !== 'ok') throw new Error(`${statusCode} ${text}`)
}

/** Requests one after the other, over kept connections or each over its own, until `stop`. */
function load (version, origin, keeps) {
  const state = { version, keeps, answered: 0, failed: [], isOver: false }
  state.ended = (async () => {
    let agent = agentFor(version)
    while (!state.isOver) {
      try {
        await ask(agent, origin)
        state.answered++
      } catch (error) {
        state.failed.push(String(error.stack))
      }
      if (!keeps) {
        await agent.close()
        agent = agentFor(version)
      }
    }
    await agent.close()
  })()
  /** Waits for `more` answers. */
  state.goesOn = async more => {
    const enough = state.answered + more
    while (state.answered < enough && state.failed.length === 0) await new Promise(setImmediate)
  }
  return state
}

/** An exchange that lasts as long as the test wants; its first bytes have gone to the server and come back. */
async function begin (version, origin) {
  const agent = agentFor(version)
  const sent = new PassThrough()
  sent.write('begin')
  const { body, headers } = await agent.request({ origin, path: '/', method: 'POST', body: sent })
  const pieces = body[Symbol.asyncIterator]()
  assert.equal(String((await pieces.next()).value), 'begin')
  return {
    process: Number(headers['x-process']),
    async end () {
      const rest = Buffer.alloc(1_000_000, 'abcdefg')
      sent.end(rest)
      const all = []
      for await (const piece of pieces) all.push(piece)
      assert.ok(Buffer.concat(all).equals(rest), version)
      await ask(agent, origin)
      await agent.close()
    }
  }
}

for (const form of ['secure', 'serve']) {
  test(`${form}: processes take each other's place under load on every version, and no request fails`, async t => {
    const path = folderFor(t)
    let now = start(t, form, { port: 0, host: '127.0.0.1' }, path)
    const { port } = await now.next()
    const origin = `https://localhost:${port}`
    const loads = Object.keys(VERSIONS).flatMap(version => [load(version, origin, true), load(version, origin, false)])
    for (let restart = 0; restart < RESTARTS; restart++) {
      await Promise.all(loads.map(load => load.goesOn(3)))
      const next = start(t, form, { port, host: '127.0.0.1' }, path)
      assert.deepEqual(await next.next(), { port })
      assert.deepEqual(await now.next(), { replaced: true })
      assert.deepEqual(await now.ended, [0, null], 'it ends by itself')
      now = next
    }
    await Promise.all(loads.map(load => load.goesOn(3)))
    for (const load of loads) load.isOver = true
    await Promise.all(loads.map(load => load.ended))
    for (const { version, keeps, answered, failed } of loads) assert.deepEqual(failed, [], `${version}, ${keeps}: beside ${answered}`)
    now.child.kill()
    await now.ended
  })

  test(`${form}: exchanges of every version live on in the process before, those of HTTP/3 through the next one`, async t => {
    const path = folderFor(t)
    const before = start(t, form, { port: 0, host: '127.0.0.1' }, path)
    const { port } = await before.next()
    const origin = `https://localhost:${port}`
    const exchanges = await Promise.all(Object.keys(VERSIONS).map(version => begin(version, origin)))
    for (const { process } of exchanges) assert.equal(process, before.child.pid)
    const next = start(t, form, { port, host: '127.0.0.1' }, path)
    assert.deepEqual(await next.next(), { port })
    for (const exchange of exchanges) await exchange.end()
    assert.deepEqual(await before.ended, [0, null])
    const late = await begin('h3', origin)
    assert.equal(late.process, next.child.pid)
    await late.end()
    next.child.kill()
    await next.ended
  })
}

test('a process that does not come up leaves the one before serving, which says why', async t => {
  const path = folderFor(t)
  const before = start(t, 'serve', { port: 0, host: '127.0.0.1' }, path)
  const { port } = await before.next()
  const other = start(t, 'serve', { port: port === 65535 ? 1 : port + 1, host: '127.0.0.1' }, path)
  const { error } = await other.next()
  assert.match(error, /^port is \d+, and the server whose place this one is to take listens on 127\.0\.0\.1:\d+$/)
  assert.deepEqual(await before.next(), { warning: `the new process does not serve, this one goes on: ${error}`, code: 'TRUNKLINE_HAND_OVER' })
  const agent = agentFor('h3')
  await ask(agent, `https://localhost:${port}`)
  await agent.close()
  before.child.kill()
  await before.ended
})

test('a server at a path gives its socket and the file with it, and one without the option gives it when it is asked to', async t => {
  const meeting = folderFor(t)
  const path = meeting + '.site'
  const server = createServer((request, response) => { response.end('here') })
  await assert.rejects(server.handOver(meeting), { message: /does not listen/ })
  server.listen(path)
  await once(server, 'listening')
  await assert.rejects(server.handOver(), TypeError)
  const [replaced, closed] = [server.handOver(meeting), once(server, 'close')]
  const next = start(t, 'plain', { path }, meeting)
  await next.next()
  assert.equal(await replaced, true)
  await closed
  const [response] = await once(http.get({ socketPath: path, agent: false }), 'response')
  assert.equal(response.headers['x-process'], String(next.child.pid))
  response.resume()
  assert.ok(existsSync(path))
  next.child.kill()
  await next.ended
})

test('a server that closes by itself says that it was not replaced, and removes the socket of the meeting', async t => {
  const handOver = folderFor(t)
  const server = serve({ handOver, hostname: '127.0.0.1', fetch: () => new Response('ok') })
  const replaced = server.handOver()
  assert.ok(existsSync(handOver))
  await server.close()
  assert.equal(await replaced, false)
  assert.ok(!existsSync(handOver))
})

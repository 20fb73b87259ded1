// The page of `inspect`, of servers and dispatchers: where it is served, its state as JSON, and its end.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { inspect, promisify } from 'node:util'
import { Agent, createServer, errors, Response, serve } from 'trunkline'

/** Reads the state until it is as expected. */
async function until (page, expected, options = {}) {
  const end = Date.now() + 60_000
  for (;;) {
    const state = await stateOf(page, options)
    if (expected(state)) return state
    assert.ok(Date.now() < end, JSON.stringify(state))
  }
}

/** By node:http, so that no dispatcher of ours takes part. */
async function stateOf (page, { headers = {} } = {}) {
  const socketPath = page.url.startsWith('unix:') ? page.url.slice('unix:'.length) : undefined
  const url = socketPath === undefined ? page.url : 'http://localhost/'
  const response = await new Promise((resolve, reject) => {
    http.get(new URL('state.json', url), { agent: false, headers, socketPath }, resolve).on('error', reject)
  })
  let text = ''
  for await (const piece of response.setEncoding('utf8')) text += piece
  assert.equal(response.statusCode, 200, text)
  return JSON.parse(text)
}

const streams = state => state.connections.flatMap(connection => connection.streams)
const never = () => new Promise(() => {})

for (const [version, options] of [['1.1', { allowH2: false }], ['2', { allowH2: true, useH2c: true }]]) {
  test(`an exchange on HTTP/${version} is shown by its server and its agent with the reason of its wait`, async () => {
    const server = serve({ port: 0, hostname: '127.0.0.1', fetch: never })
    const agent = new Agent(options)
    try {
      const gone = new AbortController()
      const call = agent.request({ origin: server.url.origin, path: '/a?b=%3Cb%3E', method: 'GET', signal: gone.signal })
      call.catch(() => {})
      const pages = [server.inspect(), agent.inspect()]
      for (const page of pages) assert.match(page.url, /^http:\/\/127\.0\.0\.1:\d+\/$/)
      const served = await until(pages[0], state => streams(state).length === 1)
      assert.equal(served.kind, 'server')
      const [stream] = streams(served)
      assert.deepEqual([stream.method, stream.wait], ['GET', 'handler'])
      assert.deepEqual(served.waits, { handler: 1 })
      const sent = await until(pages[1], state => streams(state).length === 1)
      assert.equal(sent.kind, 'client')
      assert.equal(sent.connections[0].version, version)
      assert.equal(sent.connections[0].origin, server.url.origin)
      assert.deepEqual([streams(sent)[0].target, streams(sent)[0].wait], ['/a?b=%3Cb%3E', 'response'])
      gone.abort()
      for (const page of pages) page.close()
      for (const page of pages) await assert.rejects(stateOf(page), { code: 'ECONNREFUSED' })
    } finally {
      await agent.destroy()
      await server.destroy()
    }
  })
}

test('a request in line is shown with the reason of its wait', async () => {
  const server = serve({ port: 0, hostname: '127.0.0.1', fetch: never })
  const agent = new Agent({ allowH2: false, connections: 1 })
  try {
    for (let count = 0; count < 3; count++) agent.request({ origin: server.url.origin, path: '/', method: 'GET' }).catch(() => {})
    const page = agent.inspect()
    const state = await until(page, ({ queue }) => queue.length === 2)
    assert.deepEqual(state.queue.map(({ wait }) => wait), ['capacity', 'capacity'])
  } finally {
    await agent.destroy()
    await server.destroy()
  }
})

test('a failed request of a dispatcher with a page has a number, by which the page has its timeline', async () => {
  const closed = http.createServer()
  await once(closed.listen(0, '127.0.0.1'), 'listening')
  const { port } = closed.address()
  closed.close()
  await once(closed, 'close')
  const server = serve({ port: 0, hostname: '127.0.0.1', fetch: never })
  const agent = new Agent({ headersTimeout: 50 })
  const failed = async origin => await agent.request({ origin, path: '/secret', method: 'GET' }).then(() => assert.fail('it answers'), error => error)
  try {
    assert.equal((await failed(server.url.origin)).timelineId, undefined)
    const page = agent.inspect()
    for (const [origin, message] of [[server.url.origin, 'Headers Timeout Error'], [`http://127.0.0.1:${port}`, `connect ECONNREFUSED 127.0.0.1:${port}`]]) {
      const error = await failed(origin)
      assert.equal(error.message, message)
      assert.match(inspect(error), new RegExp(`timelineId: ${error.timelineId}\\b`))
      const response = await fetch(new URL(`timelines/${error.timelineId}`, page.url))
      const timeline = await response.text()
      assert.match(timeline, new RegExp(`^GET ${origin} failed after .* \\(timeline ${error.timelineId}\\)\n`))
      assert.ok(!timeline.includes('secret'))
      if (error.timeline !== undefined) assert.equal(timeline, error.timeline)
      const [latest] = (await stateOf(page)).timelines
      assert.equal(latest.id, error.timelineId)
      assert.ok(timeline.startsWith(latest.headline))
    }
    const { status } = await fetch(new URL('timelines/0', page.url))
    assert.equal(status, 404)
  } finally {
    await agent.destroy()
    await server.destroy()
  }
})

for (const [name, start] of [
  ['serve', failed => serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: request => {
      request.signal.addEventListener('abort', () => { failed(request.signal.reason) })
      return never()
    }
  })],
  ['node:http', failed => createServer({ requests: 'http' }, request => { request.on('error', failed) }).listen(0, '127.0.0.1')]
]) {
  test(`a failed request of a server of ${name} with a page has a number, by which the page has its timeline`, async () => {
    let failed
    const error = new Promise(resolve => { failed = resolve })
    const server = start(failed)
    if (name !== 'serve') await once(server, 'listening')
    const origin = name === 'serve' ? server.url.origin : `http://127.0.0.1:${server.address().port}`
    // Over HTTP/1.1 the server of serve sees the half-closed connection first, which may still be answered.
    const version = name === 'serve' ? '2\\.0' : '1\\.1'
    const agent = new Agent(name === 'serve' ? { allowH2: true, useH2c: true } : {})
    try {
      const page = server.inspect()
      const gone = new AbortController()
      agent.request({ origin, path: '/slow?a=b', method: 'GET', signal: gone.signal }).catch(() => {})
      await until(page, state => streams(state).length === 1)
      gone.abort()
      const { timeline, timelineId } = await error
      assert.equal(typeof timelineId, 'number')
      assert.match(timeline, new RegExp(`^GET /slow\\?a=b over HTTP/${version} from 127\\.0\\.0\\.1:\\d+ failed after .* \\(timeline ${timelineId}\\)\n`))
      assert.match(timeline, /waits: the handler has not answered\n/)
      // The address that `trunkline explain URL ID` reads.
      const response = await fetch(new URL(`timelines/${timelineId}`, page.url))
      assert.equal(await response.text(), timeline)
    } finally {
      await agent.close()
      await (name === 'serve' ? server.close({ deadlineMs: 0 }) : new Promise(resolve => { server.close(resolve); server.closeAllConnections() }))
    }
  })
}

test('a page ends with what it shows', async () => {
  const server = serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('') })
  const agent = new Agent()
  const pages = [server.inspect(), agent.inspect()]
  for (const page of pages) await stateOf(page)
  await agent.destroy()
  await server.destroy()
  for (const page of pages) {
    await assert.rejects(stateOf(page), { code: 'ECONNREFUSED' })
    page.close()
  }
  assert.throws(() => agent.inspect(), errors.ClientDestroyedError)
  assert.throws(() => server.inspect(), /does not listen/)
})

test('a server of node:http2 has a page while it listens', async () => {
  const server = createServer(() => {})
  assert.throws(() => server.inspect(), /does not listen/)
  await once(server.listen(0), 'listening')
  const page = server.inspect()
  assert.equal((await stateOf(page)).kind, 'server')
  server.close()
  await once(server, 'close')
  await assert.rejects(stateOf(page), { code: 'ECONNREFUSED' })
})

test('a page does not keep its process alive', async () => {
  const program = `
    import { Agent } from 'trunkline'
    const page = new Agent().inspect()
    const state = await fetch(new URL('state.json', page.url), { headers: { connection: 'close' } })
    console.log((await state.json()).kind)
  `
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: import.meta.dirname, timeout: 60_000 })
  assert.equal(stdout, 'client\n')
})

test('a place that is taken is the error of the system', async () => {
  const agent = new Agent()
  const other = http.createServer()
  try {
    await once(other.listen(0, '127.0.0.1'), 'listening')
    assert.throws(() => agent.inspect({ port: other.address().port }), { code: 'EADDRINUSE' })
  } finally {
    other.close()
    await agent.close()
  }
})

test('an address that others can reach needs a token, which readers must give', async () => {
  const server = serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('') })
  try {
    assert.throws(() => server.inspect({ host: '0.0.0.0' }), /give a token/)
    assert.throws(() => server.inspect({ host: '0.0.0.0', token: 'short' }), /16 or more/)
    const token = '0123456789abcdef'
    const page = server.inspect({ token })
    const refused = await fetch(new URL('state.json', page.url))
    assert.equal(refused.status, 401)
    const state = await stateOf(page, { headers: { authorization: `Bearer ${token}` } })
    assert.equal(state.kind, 'server')
  } finally {
    await server.destroy()
  }
})

test('a page may be at a Unix socket', { skip: process.platform === 'win32' }, async () => {
  const server = serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('') })
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-page-'))
  const path = join(folder, 'page')
  try {
    const page = server.inspect({ path })
    assert.equal(page.url, `unix:${path}`)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.equal((await stateOf(page)).kind, 'server')
  } finally {
    await server.destroy()
    rmSync(folder, { recursive: true })
  }
})

test('options of inspect that cannot be used are named', async () => {
  const agent = new Agent()
  try {
    for (const [options, text] of [
      [null, 'the options of inspect must be an object'],
      [{ port: -1 }, 'port of inspect is -1; it must be an integer from 0 to 65535'],
      [{ port: 70_000 }, 'port of inspect is 70000; it must be an integer from 0 to 65535'],
      [{ token: 5 }, 'token of inspect must be a text that is not empty'],
      [{ host: '' }, 'host of inspect must be a text that is not empty'],
      [{ path: '' }, 'path of inspect must be a text that is not empty']
    ]) {
      assert.throws(() => agent.inspect(options), { name: 'InvalidArgumentError', message: text })
    }
  } finally {
    await agent.close()
  }
})

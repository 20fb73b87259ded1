// Metrics as OpenMetrics text, of servers and dispatchers: counts that follow from a counted load, and a number of series
// that does not depend on it. The timelines of requests that fail.
import assert from 'node:assert/strict'
import net from 'node:net'
import { once } from 'node:events'
import test from 'node:test'
import { inspect } from 'node:util'
import { Agent, createServer, errors, fetch, metrics, OPENMETRICS_TYPE, Pool, serve } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'

const VERSIONS = [
  { label: '1.1', options: { allowH2: false } },
  { label: '2', options: { allowH2: true } }
]

/** The samples of an exposition, by name and labels. */
function samplesOf (text) {
  assert.ok(text.endsWith('# EOF\n'), text)
  const samples = new Map()
  const families = new Set()
  for (const line of text.split('\n')) {
    if (line.startsWith('# TYPE ')) {
      const [, , name] = line.split(' ')
      assert.ok(!families.has(name), `${name} stands twice`)
      families.add(name)
    }
    if (line === '' || line.startsWith('#')) continue
    const at = line.lastIndexOf(' ')
    assert.ok(!samples.has(line.slice(0, at)), `${line} stands twice`)
    samples.set(line.slice(0, at), Number(line.slice(at + 1)))
  }
  return samples
}

/** Reads until the sample has the value: the end of an exchange is counted behind its last byte. */
async function until (source, series, value) {
  const end = Date.now() + 60_000
  for (;;) {
    const samples = samplesOf(source.metrics())
    if (samples.get(series) === value) return samples
    assert.ok(Date.now() < end, `${series} is ${samples.get(series)}, not ${value}`)
    await new Promise(setImmediate)
  }
}

/** A response of the status that the path says. */
const answer = request => new Response('0123456789', { status: Number(new URL(request.url).pathname.slice(1)) })

for (const { label, options } of VERSIONS) {
  test(`a server and an agent count the same load on HTTP/${label}`, async () => {
    const server = serve({ port: 0, hostname: '127.0.0.1', tls: { cert, key }, fetch: answer })
    const agent = new Agent({ ...options, connect: { rejectUnauthorized: false } })
    try {
      for (const status of [200, 200, 404, 500, 200]) {
        const { statusCode, body } = await agent.request({ origin: `https://127.0.0.1:${server.port}`, path: `/${status}`, method: 'GET' })
        assert.equal(statusCode, status)
        await body.text()
      }
      const of = `network_protocol_version="${label}"`
      const asked = await until(agent, `http_client_request_duration_seconds_count{${of}}`, 5)
      assert.equal(asked.get(`trunkline_client_responses_total{${of},status_class="2xx"}`), 3)
      assert.equal(asked.get(`trunkline_client_responses_total{${of},status_class="4xx"}`), 1)
      assert.equal(asked.get(`trunkline_client_responses_total{${of},status_class="5xx"}`), 1)
      assert.equal(asked.get(`trunkline_client_first_byte_duration_seconds_count{${of}}`), 5)
      assert.equal(asked.get('trunkline_client_requests_submitted_total'), 5)
      assert.equal(asked.get('trunkline_client_origins'), 1)
      assert.ok(asked.get('trunkline_client_io_bytes_total{network_io_direction="receive"}') >= 50)
      const served = await until(server, `http_server_request_duration_seconds_count{${of}}`, 5)
      assert.equal(served.get(`trunkline_server_requests_total{${of}}`), 5)
      assert.equal(served.get(`trunkline_server_responses_total{${of},status_class="2xx"}`), 3)
      assert.equal(served.get(`trunkline_server_connections_total{${of}}`), asked.get(`trunkline_client_connections_total{${of}}`))
    } finally {
      await agent.close()
      await server.close({ deadlineMs: 1000 })
    }
    // Both have ended: they have no counts any more.
    assert.equal(agent.metrics(), '# EOF\n')
    assert.equal(server.metrics(), '# EOF\n')
  })
}

test('how many series there are does not depend on paths, hosts, methods or fields', async () => {
  const server = createServer((request, response) => { response.end('hi') })
  assert.equal(server.metrics(), '# EOF\n')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  const agent = new Agent()
  try {
    const before = { server: samplesOf(server.metrics()).size, agent: samplesOf(agent.metrics()).size }
    assert.ok(before.server < 500 && before.agent < 500, inspect(before))
    for (let at = 0; at < 40; at++) {
      const host = at % 2 === 0 ? '127.0.0.1' : 'localhost'
      const { body } = await agent.request({ origin: `http://${host}:${port}`, path: `/path-${at}`, method: `METHOD${at}`, headers: { 'user-agent': `agent-${at}` } })
        .catch(() => ({ body: null }))
      await body?.text()
    }
    for (const [name, source] of Object.entries({ server, agent })) {
      const text = source.metrics()
      // A kind of failure, and a broken rule, get a series when they are first counted.
      assert.ok(samplesOf(text).size - before[name] <= 4, name)
      for (const word of ['path-', 'METHOD', 'agent-', 'localhost', String(port)]) assert.ok(!text.includes(word), `${name}: ${word}`)
    }
  } finally {
    await agent.close()
    server.close()
    await once(server, 'close')
  }
})

test('the counts of several servers and dispatchers are one exposition, summed', async () => {
  const servers = [0, 1].map(() => serve({ port: 0, hostname: '127.0.0.1', engine: 'threads', fetch: () => new Response('hi') }))
  const agent = new Agent()
  try {
    for (const [at, server] of servers.entries()) {
      for (let count = 0; count <= at; count++) await (await agent.request({ origin: server.url.origin, path: '/', method: 'GET' })).body.text()
      await until(server, 'http_server_request_duration_seconds_count{network_protocol_version="1.1"}', at + 1)
    }
    await until(agent, 'http_client_request_duration_seconds_count{network_protocol_version="1.1"}', 3)
    const text = metrics(...servers, agent)
    const all = samplesOf(text)
    assert.equal(all.get('trunkline_server_requests_total{network_protocol_version="1.1"}'), 3)
    assert.equal(all.get('http_server_request_duration_seconds_bucket{network_protocol_version="1.1",le="+Inf"}'), 3)
    assert.equal(all.get('http_client_request_duration_seconds_count{network_protocol_version="1.1"}'), 3)
    assert.equal([...all].filter(([series, value]) => series.startsWith('trunkline_server_build_info') && value === 1).length, 1)
    // The threads of the engine wake this one for each batch of what they have for it.
    assert.ok(all.get('trunkline_ring_lag_seconds_count') > 0)
    assert.equal(all.get('trunkline_ring_lag_seconds_bucket{le="+Inf"}'), all.get('trunkline_ring_lag_seconds_count'))
    assert.ok(all.has('trunkline_server_worker_lag_seconds_count'))
    assert.equal(metrics(), '# EOF\n')
    assert.match(OPENMETRICS_TYPE, /^application\/openmetrics-text; version=1\.0\.0/)
  } finally {
    await agent.close()
    for (const server of servers) await server.close({ deadlineMs: 1000 })
  }
})

test('a dispatcher whose factory makes those that send refuses to give counts that it does not have', async () => {
  const agent = new Agent({ factory: (origin, options) => new Pool(origin, options) })
  assert.throws(() => agent.metrics(), errors.NotSupportedError)
  await agent.close()
})

test('an error of a request that got no response tells its timeline, which is not printed unasked', async () => {
  const silent = net.createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address()
  const agent = new Agent({ headersTimeout: 50 })
  const sockets = []
  silent.on('connection', socket => { sockets.push(socket) })
  try {
    const error = await agent.request({ origin: `http://127.0.0.1:${port}`, path: '/secret', method: 'GET' }).catch(error => error)
    assert.ok(error instanceof errors.HeadersTimeoutError, inspect(error))
    const lines = error.timeline.trimEnd().split('\n')
    assert.match(lines[0], new RegExp(`^GET http://127\\.0\\.0\\.1:${port} failed after \\d+\\.\\d{3} s: no response came`))
    assert.match(lines[1], /waits: a connection is being opened$/)
    assert.match(lines[2], /starts on connection \d+, HTTP\/1\.1$/)
    assert.match(lines.at(-1), /At fault: the peer\.$/)
    assert.ok(!error.timeline.includes('secret'))
    assert.ok(!inspect(error).includes('waits:'))
    assert.deepEqual(error.attempts.map(({ version, waitedFor, progress }) => ({ version, waitedFor, progress })),
      [{ version: 'HTTP/1.1', waitedFor: 'attempt', progress: 'awaitingResponse' }])
  } finally {
    await agent.destroy()
    for (const socket of sockets) socket.destroy()
    silent.close()
  }
})

test("an error of fetch has the request's timeline in its cause", async () => {
  // It has the port and no listener: connections to it are refused.
  const gone = net.createServer().listen(0, '127.0.0.1')
  await once(gone, 'listening')
  const socket = net.connect(gone.address().port, '127.0.0.1')
  await once(socket, 'connect')
  const { localPort } = socket
  const agent = new Agent()
  try {
    const error = await fetch(`http://127.0.0.1:${localPort}/`, { dispatcher: agent }).catch(error => error)
    assert.equal(error.cause.code, 'ECONNREFUSED', inspect(error))
    assert.match(error.cause.timeline, new RegExp(`^GET http://127\\.0\\.0\\.1:${localPort} failed after `))
    assert.match(error.cause.timeline, /it was on no connection/)
  } finally {
    await agent.destroy()
    socket.destroy()
    gone.close()
  }
})

test('metrics has the utilization and the delays of the event loop once for all of its sources', async () => {
  const BLOCKED_MS = 200
  // A late timer shortens what a look sees of the block by one interval at most.
  const SEEN_SECONDS_MIN = (BLOCKED_MS - 40) / 1e3
  const agents = [new Agent(), new Agent()]
  try {
    const first = samplesOf(metrics(...agents))
    const share = first.get('nodejs_eventloop_utilization')
    assert.ok(share >= 0 && share <= 1, `${share}`)
    assert.ok(!samplesOf(agents[0].metrics()).has('nodejs_eventloop_utilization'), 'a part has none of the process')
    let longest = 0
    const end = Date.now() + 60_000
    while (longest < SEEN_SECONDS_MIN) {
      // The first look is an interval behind the start, and the next one behind the block. On a busy machine
      // the first may come behind the block, and sees none of it.
      await new Promise(resolve => setTimeout(resolve, 40))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS)
      await new Promise(resolve => setTimeout(resolve, 40))
      const samples = samplesOf(metrics(...agents))
      longest = samples.get('nodejs_eventloop_delay_max_seconds') ?? 0
      if (longest > 0) for (const name of ['p50', 'p99']) assert.ok(samples.get(`nodejs_eventloop_delay_${name}_seconds`) <= longest, name)
      assert.ok(Date.now() < end, `no look at the event loop sees a block: ${longest}`)
    }
  } finally {
    await Promise.all(agents.map(agent => agent.close()))
  }
})

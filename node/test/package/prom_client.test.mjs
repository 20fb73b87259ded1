// Counts of servers and dispatchers in a registry of prom-client, unchanged from npm: in its own text of both content types, and as
// a cluster sums them.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Agent, errors, metrics, registerMetrics, Response, serve } from 'trunkline'

const prom = await import('prom-client')
  // A folder that was installed before these tests asked for it.
  .catch(error => { if (error.code === 'ERR_MODULE_NOT_FOUND') return null; throw error })
const skip = prom === null && 'prom-client is missing: run npm install in this folder'
const { AggregatorRegistry, Counter, collectDefaultMetrics, Registry } = prom?.default ?? {}

/** The samples of a text, by name and labels. */
const samplesOf = text => new Map(text.split('\n').filter(line => line !== '' && !line.startsWith('#')).map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))
const V1 = 'network_protocol_version="1.1"'

/** A server and an agent that have exchanged `count` requests, to the end of the last one at both. */
async function loaded (count) {
  const server = serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('hi') })
  const agent = new Agent()
  for (let at = 0; at < count; at++) await (await agent.request({ origin: server.url.origin, path: '/', method: 'GET' })).body.text()
  const end = Date.now() + 60_000
  for (const [source, kind] of [[server, 'server'], [agent, 'client']]) {
    while (samplesOf(source.metrics()).get(`http_${kind}_request_duration_seconds_count{${V1}}`) !== count) {
      assert.ok(Date.now() < end, source.metrics())
      await new Promise(setImmediate)
    }
  }
  const close = async () => {
    await agent.close()
    await server.close({ deadlineMs: 1000 })
  }
  return { server, agent, close }
}

for (const type of ['PROMETHEUS_CONTENT_TYPE', 'OPENMETRICS_CONTENT_TYPE']) {
  test(`a registry of ${type} has what metrics() has, beside its own and prom-client's metrics of the process`, { skip }, async () => {
    const registry = new Registry(Registry[type])
    collectDefaultMetrics({ register: registry })
    new Counter({ name: 'own', help: 'A counter of the program.', registers: [registry] }).inc(7)
    const { server, agent, close } = await loaded(3)
    try {
      const remove = registerMetrics(registry, server, agent)
      const text = await registry.metrics()
      const ours = samplesOf(metrics(server, agent))
      const theirs = samplesOf(text)
      assert.equal(theirs.get(type.startsWith('OPEN') ? 'own_total' : 'own'), 7)
      let compared = 0
      for (const series of ours.keys()) {
        // Measured between the two readings, or prom-client's.
        if (/^(nodejs_|process_|trunkline_ring_lag|trunkline_server_worker_lag)/.test(series)) continue
        assert.equal(theirs.get(series), ours.get(series), series)
        compared++
      }
      assert.ok(compared > 200, `${compared}`)
      assert.equal(theirs.get(`trunkline_server_requests_total{${V1}}`), 3)
      assert.equal(theirs.get(`http_client_request_duration_seconds_bucket{${V1},le="+Inf"}`), 3)
      assert.equal(theirs.get('trunkline_sources'), 2)
      const described = text.split('\n').filter(line => line.startsWith('# TYPE ')).map(line => line.split(' ')[2])
      assert.equal(new Set(described).size, described.length, 'each is described once')
      for (const [line] of text.matchAll(/^# TYPE (trunkline|http)_\w+ .*$/gm)) assert.match(line, / (counter|gauge|histogram)$/)
      registry.resetMetrics()
      remove()
      assert.doesNotMatch(await registry.metrics(), /trunkline|http_server/)
    } finally {
      await close()
    }
  })
}

test('counts are those of each scrape, and of sources that have ended there are none', { skip }, async () => {
  const registry = new Registry()
  const { server, agent, close } = await loaded(1)
  registerMetrics(registry, server, agent)
  await (await agent.request({ origin: server.url.origin, path: '/', method: 'GET' })).body.text()
  assert.equal(samplesOf(await registry.metrics()).get('trunkline_client_requests_submitted_total'), 2)
  await close()
  const after = samplesOf(await registry.metrics())
  assert.equal(after.get('trunkline_sources'), 0)
  assert.equal([...after.keys()].filter(series => series.startsWith('trunkline_client')).length, 0)
})

test('a server that listens later than it is registered has its metrics from the second scrape on', { skip }, async () => {
  const { createServer } = await import('trunkline')
  const registry = new Registry()
  const server = createServer((request, response) => { response.end('hi') })
  registerMetrics(registry, server)
  await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve) })
  try {
    assert.equal(samplesOf(await registry.metrics()).get('trunkline_sources'), 1)
    assert.equal(samplesOf(await registry.metrics()).get('trunkline_server_connections_accepted_total'), 0)
  } finally {
    await new Promise(resolve => { server.close(resolve) })
  }
})

test("a cluster's registry sums the counts of its workers", { skip }, async () => {
  const { server, agent, close } = await loaded(2)
  try {
    const registry = new Registry()
    registerMetrics(registry, server, agent)
    // As they come from two workers.
    const ofWorker = JSON.parse(JSON.stringify(await registry.getMetricsAsJSON()))
    const all = samplesOf(await AggregatorRegistry.aggregate([ofWorker, structuredClone(ofWorker)]).metrics())
    assert.equal(all.get(`trunkline_server_requests_total{${V1}}`), 4)
    assert.equal(all.get(`http_server_request_duration_seconds_count{${V1}}`), 4)
    assert.equal([...all].find(([series]) => series.startsWith('trunkline_server_build_info'))[1], 1)
  } finally {
    await close()
  }
})

test('what is no registry, no source and a second call are refused, and leave nothing behind', { skip }, async () => {
  const agent = new Agent()
  const registry = new Registry()
  try {
    for (const wrong of [undefined, null, {}, { registerMetric () {} }]) assert.throws(() => registerMetrics(wrong, agent), errors.InvalidArgumentError)
    assert.throws(() => registerMetrics(registry), /needs a server or a dispatcher/)
    new Counter({ name: 'trunkline_client_origins', help: 'Taken.', registers: [registry] })
    assert.throws(() => registerMetrics(registry, agent), /already been registered/)
    assert.deepEqual(registry.getMetricsAsArray().map(metric => metric.name), ['trunkline_client_origins'])
    const other = new Registry()
    registerMetrics(other, agent)
    assert.throws(() => registerMetrics(other, agent), /trunkline_sources has already been registered/)
    assert.ok(other.getSingleMetric('trunkline_sources') !== undefined)
  } finally {
    await agent.close()
  }
})

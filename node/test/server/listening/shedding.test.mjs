// Requests that the engine answers itself, so that a server stays able to serve others.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { createServer, request, serve, Agent } from 'trunkline'

const TRIES_MAX = 10_000
const shedding = { requestsPerAddress: { burst: 3, perSecond: 1 } }

/** Asks until a request is refused; how many were answered before, and the refusal. */
async function untilRefused (origin) {
  const dispatcher = new Agent()
  try {
    for (let answered = 0; answered < TRIES_MAX; answered++) {
      const { statusCode, headers, body } = await request(origin, { dispatcher })
      // All of it: `dump` leaves a long one.
      await body.arrayBuffer()
      if (statusCode !== 200) return { answered, statusCode, headers }
    }
  } finally {
    await dispatcher.close()
  }
  throw new Error(`${TRIES_MAX} requests were answered`)
}

test('serve: an address that sends more than its rate gets 429, and no handler sees it', async t => {
  let handled = 0
  const server = serve({ hostname: '127.0.0.1', shedding, fetch: () => { handled++; return new Response('ok') } })
  t.after(() => server.destroy())
  const { answered, statusCode, headers } = await untilRefused(server.url.origin)
  assert.deepEqual([statusCode, headers['retry-after'], handled], [429, '1', answered])
  assert.ok(answered >= 3)
  assert.match(server.metrics(), /trunkline_server_requests_shed_total\{reason="address"\} 1\n/)
})

test('createServer: as serve', async t => {
  let handled = 0
  const server = createServer({ shedding }, (_, response) => { handled++; response.end('ok') })
  server.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { answered, statusCode } = await untilRefused(`http://127.0.0.1:${server.address().port}`)
  assert.deepEqual([statusCode, handled], [429, answered])
})

/** Keeps JavaScript from everything else. */
function block (ms) {
  const until = performance.now() + ms
  while (performance.now() < until) { /* busy */ }
}

for (const engine of ['threads', 'inline']) {
  test(`a server whose JavaScript is behind answers with 503 until it is not, engine '${engine}'`, async t => {
    const server = serve({
      hostname: '127.0.0.1', engine, shedding: { lagMax: 40 }, fetch: request => { if (request.url.endsWith('/block')) block(200); return new Response('ok') }
    })
    t.after(() => server.destroy())
    const dispatcher = new Agent({ engine: 'threads' })
    t.after(() => dispatcher.close())
    const ask = async path => {
      const { statusCode, headers, body } = await request(server.url.origin + path, { dispatcher })
      await body.dump()
      return { statusCode, headers }
    }
    let refused
    for (let round = 0; refused === undefined; round++) {
      assert.ok(round < 100, 'no round had a refusal')
      const answers = await Promise.all(['/block', '/block', '/block', '/'].map(ask))
      refused = answers.find(({ statusCode }) => statusCode !== 200)
    }
    assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, '1'])
    assert.match(server.metrics(), /trunkline_server_requests_shed_total\{reason="lag"\} [1-9]/)
    for (let tries = 0; (await ask('/')).statusCode !== 200; tries++) assert.ok(tries < TRIES_MAX, 'it refuses on')
  })
}

test('serve: an address that moves more bytes than its rate gets 429 and is told when to come again', async t => {
  const large = Buffer.alloc(80 * 16_384)
  // More than a minute of the rate, of which a busy machine does not take most.
  const bytesPerAddress = { burst: 65_536, perSecond: 16_384 }
  const server = serve({ hostname: '127.0.0.1', shedding: { bytesPerAddress }, fetch: () => new Response(large) })
  t.after(() => server.destroy())
  const { answered, statusCode, headers } = await untilRefused(server.url.origin)
  assert.deepEqual([statusCode, answered], [429, 1])
  assert.ok(headers['retry-after'] >= 2 && headers['retry-after'] <= 80, headers['retry-after'])
})

test('values that refuse everything, and names that are not known, are refused with what is allowed', () => {
  const fetch = () => new Response('ok')
  assert.throws(() => serve({ fetch, shedding: { requestsPerAddress: { burst: 1, perSecond: 0 } } }), /shedding.requestsPerAddress is \{ burst: 1, perSecond: 0 \}; it must be \{ burst, perSecond \}, both integers of at least 1/)
  assert.throws(() => serve({ fetch, shedding: { sendBudgetPercentMax: 100 } }), /shedding.sendBudgetPercentMax is 100; it must be an integer from 0 to 99/)
  assert.throws(() => serve({ fetch, shedding: { bytesPerAddress: { burst: 0, perSecond: 1 } } }), /shedding.bytesPerAddress is \{ burst: 0, perSecond: 1 \}/)
  assert.throws(() => createServer({ shedding: { lag: 1 } }), /shedding has no lag/)
})

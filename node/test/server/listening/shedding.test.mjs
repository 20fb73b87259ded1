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
      await body.dump()
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

test('values that refuse everything, and names that are not known, are refused with what is allowed', () => {
  const fetch = () => new Response('ok')
  assert.throws(() => serve({ fetch, shedding: { requestsPerAddress: { burst: 1, perSecond: 0 } } }), /shedding.requestsPerAddress is \{ burst: 1, perSecond: 0 \}; it must be \{ burst, perSecond \}, both integers of at least 1/)
  assert.throws(() => serve({ fetch, shedding: { sendBudgetPercentMax: 100 } }), /shedding.sendBudgetPercentMax is 100; it must be an integer from 0 to 99/)
  assert.throws(() => createServer({ shedding: { lag: 1 } }), /shedding has no lag/)
})

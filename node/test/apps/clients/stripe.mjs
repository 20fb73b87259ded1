import Stripe from 'stripe'

/** Every second request for it succeeds. */
let flaky = 0

export function answer (request, response, body) {
  const { pathname, searchParams } = new URL(request.url, 'https://api.test')
  const json = (value, status = 200, fields = {}) => { response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1', ...fields }).end(JSON.stringify(value)) }
  if (pathname === '/v1/customers' && request.method === 'POST') return json({ id: 'cus_1', object: 'customer', sent: String(body) })
  if (pathname === '/v1/customers') return json({ object: 'list', url: '/v1/customers', has_more: searchParams.get('starting_after') !== 'cus_2', data: [{ id: searchParams.has('starting_after') ? 'cus_2' : 'cus_1' }] })
  if (pathname === '/v1/balance' && ++flaky % 2 === 1) return json({ error: { type: 'api_error', message: 'busy' } }, 503, { 'stripe-should-retry': 'true' })
  if (pathname === '/v1/balance') return json({ object: 'balance' })
  if (pathname === '/v1/charges') return json({ error: { type: 'card_error', code: 'card_declined', message: 'declined' } }, 402)
  if (pathname === '/v1/files') return json({ id: 'file_1', object: 'file', length: body.length > 100_000 })
  json({ error: { type: 'invalid_request_error', message: 'none' } }, 404)
}

export const ignored = ['idempotency-key', 'x-stripe-client-telemetry', 'x-stripe-client-user-agent']

export function calls ({ url, fetch = globalThis.fetch }) {
  const { hostname, port } = new URL(url)
  const client = new Stripe('sk_test_key', { host: hostname, port, protocol: 'https', maxNetworkRetries: 1, telemetry: false, httpClient: Stripe.createFetchHttpClient(fetch) })
  const failure = error => [error.type, error.code, error.statusCode, error.requestId]
  return {
    create: async () => { const made = await client.customers.create({ name: 'größe', metadata: { a: 'b' } }); return [made.id, made.sent, made.lastResponse.requestId] },
    'all pages': async () => { const all = []; for await (const { id } of client.customers.list({ limit: 1 })) all.push(id); return all },
    'one that is tried again': async () => (await client.balance.retrieve()).object,
    declined: () => client.charges.create({ amount: 1, currency: 'eur', source: 'tok' }).catch(failure),
    'a file': async () => (await client.files.create({ purpose: 'dispute_evidence', file: { data: Buffer.alloc(120_000, 'f'), name: 'f.png', type: 'application/octet-stream' } }, { host: hostname })).length,
    none: () => client.customers.retrieve('none').catch(failure),
    '50 at once': async () => (await Promise.all(Array.from({ length: 50 }, () => client.customers.create({ name: 'n' })))).length
  }
}

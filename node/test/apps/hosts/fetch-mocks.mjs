// msw and nock, which stand in the place of the global fetch and its classes: those of Node.js, or ours by `installGlobal`.
import { once } from 'node:events'
import http from 'node:http'
import { Agent, buildConnector, installGlobal } from 'trunkline'

export async function cases (side) {
  // Both take requests from sockets of node:net, which this connector makes.
  if (side === 'ours') installGlobal(new Agent({ connect: buildConnector({}) }))
  // They take what is global when they are loaded.
  const [{ http: route, HttpResponse, passthrough, delay }, { setupServer }, { default: nock }] = await Promise.all([import('msw'), import('msw/node'), import('nock')])
  nock.restore()
  const server = http.createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    response.end(JSON.stringify({ real: request.url, method: request.method, sent: String(Buffer.concat(chunks)), own: request.headers['x-own'] }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${server.address().port}`
  const failure = error => [error.name, error.message, error.cause?.message]
  const mocked = setupServer(
    route.get('https://mocked.test/json', ({ request, cookies }) => HttpResponse.json({ url: request.url, own: request.headers.get('x-own'), cookies, global: request instanceof Request }, { headers: { 'x-mocked': 'yes' } })),
    route.post('https://mocked.test/echo', async ({ request }) => HttpResponse.text(`${request.headers.get('content-type')} ${await request.clone().text()} ${(await request.text()).length}`, { status: 201 })),
    route.post('https://mocked.test/form', async ({ request }) => HttpResponse.json([...await request.formData()].map(([name, value]) => [name, value.size ?? value]))),
    route.get('https://mocked.test/fails', () => HttpResponse.error()),
    route.get('https://mocked.test/throws', () => { throw new Error('broken on purpose') }),
    route.get('https://mocked.test/stream', () => new HttpResponse(new ReadableStream({ start (controller) { for (const part of ['one ', 'two']) controller.enqueue(new TextEncoder().encode(part)); controller.close() } }))),
    route.get('https://mocked.test/away', () => new HttpResponse(null, { status: 302, headers: { location: 'https://mocked.test/json' } })),
    route.get('https://mocked.test/late', async () => { await delay('infinite') }),
    route.get(`${origin}/past`, () => passthrough())
  )
  mocked.events.on('unhandledException', () => {})
  const withMsw = work => async () => {
    mocked.listen({ onUnhandledRequest: 'bypass' })
    try { return await work() } finally { mocked.close() }
  }
  const withNock = work => async () => {
    if (!nock.isActive()) nock.activate()
    try { return await work() } finally { nock.cleanAll(); nock.restore() }
  }
  return {
    'a mocked answer': withMsw(async () => {
      const response = await fetch('https://mocked.test/json', { headers: { 'x-own': 'yes', cookie: 'a=1' } })
      return [response.status, response.url, response.headers.get('x-mocked'), response instanceof Response, await response.json()]
    }),
    'a mocked answer to a Request': withMsw(async () => await (await fetch(new Request('https://mocked.test/echo', { method: 'POST', body: 'sent' }))).text()),
    'a mocked answer to a form': withMsw(async () => { const form = new FormData(); form.set('a', '1'); form.set('file', new Blob(['blob']), 'f.txt'); return await (await fetch('https://mocked.test/form', { method: 'POST', body: form })).json() }),
    'a stream of a mock': withMsw(async () => { const parts = []; for await (const part of (await fetch('https://mocked.test/stream')).body) parts.push(String(Buffer.from(part))); return parts.join('') }),
    'a mocked redirect': withMsw(async () => { const response = await fetch('https://mocked.test/away'); return [response.redirected, response.url, response.status] }),
    'a mocked redirect that is not followed': withMsw(async () => { const response = await fetch('https://mocked.test/away', { redirect: 'manual' }); return [response.type, response.status] }),
    'a mocked failure': withMsw(async () => await fetch('https://mocked.test/fails').catch(failure)),
    'a mock that throws': withMsw(async () => { const response = await fetch('https://mocked.test/throws'); return [response.status, (await response.json()).message] }),
    'a mock that is aborted': withMsw(async () => await fetch('https://mocked.test/late', { signal: AbortSignal.timeout(50) }).catch(error => error.name)),
    'a request that passes msw': withMsw(async () => { const response = await fetch(`${origin}/past`, { headers: { 'x-own': 'yes' } }); return [response.status, response.headers.getSetCookie(), await response.json()] }),
    'an upload that passes msw': withMsw(async () => await (await fetch(`${origin}/other`, { method: 'PUT', body: new Blob(['one ', 'two']).stream(), duplex: 'half' })).json()),
    'nock: an answer': withNock(async () => {
      nock('https://nocked.test', { reqheaders: { 'x-own': 'yes' } }).post('/a', { b: 1 }).query({ q: '1' }).reply(201, { nocked: true }, { 'x-nocked': 'yes' })
      const response = await fetch('https://nocked.test/a?q=1', { method: 'POST', headers: { 'x-own': 'yes', 'content-type': 'application/json' }, body: '{"b":1}' })
      return [response.status, response.headers.get('x-nocked'), await response.json(), nock.isDone()]
    }),
    'nock: an error': withNock(async () => {
      nock('https://nocked.test').get('/fails').replyWithError(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
      return await fetch('https://nocked.test/fails').catch(error => [error.name, error.message])
    }),
    'nock: a request that no interceptor takes': withNock(async () => {
      nock('https://nocked.test').get('/other').reply(200)
      return await fetch('https://nocked.test/none').catch(error => error.name)
    }),
    'nock: a packed answer': withNock(async () => {
      const { gzipSync } = await import('node:zlib')
      nock('https://nocked.test').get('/packed').reply(200, gzipSync('packed'), { 'content-encoding': 'gzip', 'content-type': 'text/plain' })
      return await (await fetch('https://nocked.test/packed')).text()
    }),
    'fetch behind them': async () => { const response = await fetch(`${origin}/after`); const value = await response.json(); server.close(); return value }
  }
}

// The bytes of a request of HTTP/1.1, as a server receives them.

/** Receives one request with all of its body, and answers each one. */
async function received (module, t, ask, options = {}) {
  const log = t.log('wire')
  const texts = []
  const server = await t.serveRaw(socket => {
    let text = ''
    socket.on('data', piece => {
      text += piece.toString('latin1')
      const head = text.indexOf('\r\n\r\n')
      const isWhole = head >= 0 && (/transfer-encoding/i.test(text) ? text.endsWith('\r\n0\r\n\r\n') : text.length - head - 4 >= Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0))
      if (!isWhole) return
      texts.push(text)
      text = ''
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    })
  })
  const client = t.own(new module.Client(server.url, options))
  await ask(client, server).catch(error => { log('failed', error) })
  for (const text of texts) log(text.replaceAll(String(server.port), 'PORT').replaceAll('\r\n', '|'))
}
const one = (request, options) => (module, t) => received(module, t, client => client.request({ path: '/', method: 'GET', ...request }).then(({ body }) => body.text()), options)
async function * pieces () { yield 'some '; yield 'pieces' }

const FIELDS = { 'X-One': '1', accept: '*/*', 'X-Two': ['a', 'b'] }
const BODIES = { 'no body': () => undefined, 'a text': () => 'some text', 'an empty text': () => '', 'an iterable': pieces, 'an iterable with its length': pieces }
const programs = {}
for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'QUERY']) {
  for (const [label, body] of Object.entries(BODIES)) {
    const headers = label.endsWith('length') ? { ...FIELDS, 'Content-Length': '11' } : FIELDS
    programs[`${method}, ${label}`] = (module, t) => one({ method, headers, body: body() })(module, t)
  }
}
export default {
  ...programs,
  'no fields': one({}),
  'a flat list of fields': one({ headers: ['B', '2', 'a', '1', 'Content-Type', 'text/plain'] }),
  'a host of its own among the fields': one({ headers: { a: '1', Host: 'other.test:81', b: '2' } }),
  'connection: close among the fields': one({ headers: { a: '1', Connection: 'close', b: '2' } }),
  'connection: keep-alive among the fields': one({ headers: { a: '1', connection: 'keep-alive', b: '2' } }),
  'connection with other options': one({ headers: { a: '1', connection: 'keep-alive, te', te: 'trailers' } }),
  'reset': one({ headers: { a: '1' }, reset: true }),
  'pipelining 0': one({ headers: { a: '1' } }, { pipelining: 0 }),
  'expectContinue': one({ headers: { a: '1' }, method: 'POST', body: 'text', expectContinue: true }),
  'a Blob': (module, t) => one({ method: 'POST', headers: { a: '1' }, body: new Blob(['some text'], { type: 'text/x' }) })(module, t),
  'a query': one({ path: '/a', query: { b: [1, 2], c: 'd e' } }),
  'an absolute path': one({ path: 'http://other.test/a' }),
  'upgrade': (module, t) => received(module, t, client => client.upgrade({ path: '/', protocol: 'x', headers: { a: '1' } })),
  'connect': (module, t) => received(module, t, client => client.connect({ path: 'other.test:1', headers: { a: '1' } }).then(({ socket }) => { socket.on('error', () => {}).destroy() })),
  'connect to a slash': (module, t) => received(module, t, client => client.connect({ path: '/', headers: { a: '1' } }).then(({ socket }) => { socket.on('error', () => {}).destroy() })),
  'a port of 0': async ({ Client }, t) => {
    const log = t.log('client')
    await t.settle(log, 'request', Promise.resolve().then(() => t.own(new Client('http://127.0.0.1:0')).request({ path: '/', method: 'GET' })))
  },
  'an empty host': one({ headers: { host: '' } }),
  'a fetch': async (module, t) => {
    const { fetch } = await import('undici8')
    await received(module, t, (client, { url }) => fetch(`${url}/a?b=c`, { dispatcher: client, headers: { 'X-One': '1' } }))
  },
  'a fetch that posts': async (module, t) => {
    const { fetch } = await import('undici8')
    await received(module, t, (client, { url }) => fetch(`${url}/a?b=c`, { dispatcher: client, method: 'POST', body: 'text' }))
  }
}

// Heads of requests and of answers on HTTP/1.1, as they go over the wire and as programs see them.

/** The lines of a request's head as they came, except for the host's. */
const raw = (options, client = {}) => async ({ Client }, t) => {
  const log = t.log('server')
  const server = await t.serveRaw(socket => {
    let text = ''
    socket.on('data', piece => {
      text += piece.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return
      for (const line of text.slice(0, end).split('\r\n').sort()) if (!/^host:/i.test(line)) log(line.replaceAll(/\b127\.0\.0\.1:\d+|localhost:\d+/g, 'origin'))
      text = ''
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    })
  })
  const dispatcher = t.own(new Client(server.url, client))
  await t.settle(t.log('client'), 'request', dispatcher.request({ path: '/', method: 'GET', ...options }).then(async ({ statusCode, body }) => { await body.dump(); return statusCode }))
}
/** The parsed form of this head. */
const seen = (head, options = {}) => async ({ Client }, t) => {
  const log = t.log('client')
  const server = await t.serveAnswer(head)
  const client = t.own(new Client(server.url))
  const infos = []
  const { headers, trailers, body, statusCode, statusText } = await client.request({ path: '/', method: 'GET', onInfo: ({ statusCode, headers }) => { infos.push([statusCode, headers]) }, ...options })
  log(statusCode, statusText, headers, infos)
  log(await body.text().catch(error => error.code), Object.entries(trailers))
}

const query = values => raw({ query: values })

export default {
  'an ordinary GET': raw({}),
  'an ordinary POST': raw({ method: 'POST', body: 'hello' }),
  'a POST without a body': raw({ method: 'POST' }),
  'names in capitals': raw({ headers: { SOAPAction: '"a"', 'X-Camel-Case': '1', 'x-lower': '2', COOKIE: 'a=b', Accept: '*/*' } }),
  'names in capitals, as pairs': raw({ headers: ['SOAPAction', '"a"', 'X-Camel-Case', '1', 'X-Camel-Case', '2'] }),
  'names in capitals, with a body': raw({ method: 'POST', body: 'hello', headers: { 'Content-Type': 'text/plain', 'Content-Length': '5', 'X-Own': '1' } }),
  'a connection header': raw({ headers: { connection: 'close' } }),
  'a connection header of keep-alive': raw({ headers: { connection: 'keep-alive' } }),
  'reset': raw({ reset: true }),
  'no pipelining': raw({}, { pipelining: 0 }),
  'a host header': raw({ headers: { host: 'other.test' } }),
  'an iterator on the prototype of all objects': async (module, t) => {
    Object.defineProperty(Object.prototype, Symbol.iterator, { value: function * () {}, configurable: true, writable: true })
    try {
      await raw({ headers: { a: 'b' } })(module, t)
    } finally {
      delete Object.prototype[Symbol.iterator]
    }
  },
  'a query': query({ a: 'b c', d: "~!*'()", e: [1, 2], f: null, g: undefined, h: true, i: 0.5, 'j&k': 'l=m', n: 'ö€' }),
  'a query of odd values': query({ date: new Date(0), object: { a: 1 }, call: () => {}, symbol: 'x', big: 10n, nan: NaN, list: [] }),
  'a query of nothing': query({}),
  'a query beside a query': async ({ Client }, t) => {
    const log = t.log('client')
    const client = t.own(new Client('http://localhost:1'))
    await t.settle(log, 'request', client.request({ path: '/?a=b', method: 'GET', query: { c: 'd' } }))
  },
  'fields of an answer': seen('HTTP/1.1 200 Fine\r\nX-Name: Value\r\nset-cookie: a\r\nSet-Cookie: b\r\ncontent-length: 2\r\n\r\nok'),
  'fields of an answer, raw': seen('HTTP/1.1 200 Fine\r\nx-name: Value\r\nset-cookie: a\r\ncontent-length: 2\r\n\r\nok', { responseHeaders: 'raw' }),
  'onInfo': seen('HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
  'onInfo, raw': seen('HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok', { responseHeaders: 'raw' }),
  'a field that is called __proto__': seen('HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\ncontent-length: 2\r\n\r\nok'),
  'trailers': seen('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-end: a\r\n\r\n'),
  'a trailer that is called __proto__': seen('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n__proto__: a\r\nx-end: b\r\n\r\n')
}

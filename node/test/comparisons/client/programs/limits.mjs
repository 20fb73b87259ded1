// Lengths that are not those of the body, sources of requests that wait, and pipelined requests.
import { Readable } from 'node:stream'
import { bytesOf, roundTrips, turns } from '../stage.mjs'

async function * pieces () { yield 'some '; yield 'text' }
const SOURCES = { 'an iterable': pieces, 'a Readable': () => Readable.from([Buffer.from('some '), Buffer.from('text')], { objectMode: false }), 'a Readable of objects': () => Readable.from(['some ', 'text']) }

/** A request whose content-length is not that of its source. */
const declared = (length, method, source, strictContentLength) => async ({ Client }, t) => {
  const log = t.log('client')
  const server = await t.serveRaw(socket => {
    const answer = () => { socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok') }
    let text = ''
    let hasAnswered = false
    socket.on('data', piece => {
      if (piece.toString('latin1').startsWith('GET /again')) return answer()
      text += piece.toString('latin1')
      // When what may come of the body is there.
      const end = text.indexOf('\r\n\r\n')
      if (end < 0 || hasAnswered || text.length - end - 4 < Math.min(length, 9)) return
      hasAnswered = true
      answer()
    })
  })
  const client = t.own(new Client(server.url, { strictContentLength }))
  await t.settle(log, 'request', client.request({ path: '/', method, headers: { 'content-length': String(length) }, body: source() }).then(({ body }) => body.text()))
  await turns(20)
  await t.settle(log, 'again', client.request({ path: '/again', method: 'GET' }).then(({ body }) => body.text()))
  log('connections', server.counts.sockets)
}

const programs = {}
for (const [label, source] of Object.entries(SOURCES)) {
  for (const method of ['POST', 'GET']) {
    for (const length of [5, 9, 12]) {
      for (const isStrict of [true, false]) {
        programs[`${method}, ${label} of 9 bytes with content-length ${length}${isStrict ? '' : ', not strict'}`] = declared(length, method, source, isStrict)
      }
    }
  }
}

/** How often sources of waiting requests are read, and how many bytes are taken from them. */
const waiting = (make, options = {}) => async ({ Client }, t) => {
  const log = t.log('client')
  const held = []
  const server = await t.serve((request, response) => { held.push(response); request.resume() })
  const client = t.own(new Client(server.url, options))
  const first = client.request({ path: '/', method: 'GET' })
  const reads = []
  const others = [1, 2, 3].map(at => {
    reads[at] = 0
    return client.request({ path: '/', method: 'POST', body: make(() => { reads[at]++ }) }).catch(() => {})
  })
  while (held.length === 0) await turns(1)
  await turns(20)
  log('reads', JSON.stringify(reads.slice(1)))
  for (const response of held.splice(0)) response.end('x')
  await first.then(({ body }) => body.text())
  void others
}

export default {
  ...programs,
  'sources that wait: a Readable': waiting(read => new Readable({ read () { read(); setImmediate(() => { this.push('x'.repeat(1000)) }) } })),
  'sources that wait: an iterable': waiting(read => (async function * () { for (;;) { read(); yield 'x'.repeat(1000); await turns(1) } })()),
  'sources that wait: a Blob': waiting(read => ({ [Symbol.toStringTag]: 'Blob', size: 3, type: '', arrayBuffer: async () => new ArrayBuffer(3), stream () { read(); return new Blob(['abc']).stream() } })),
  'the most bytes of a body': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.end('x'.repeat(Number(request.url.slice(1)))) })
    for (const maxResponseSize of [-1, 0, 1, 10]) {
      for (const size of [0, 1, 10, 11]) {
        const client = t.own(new Client(server.url, { maxResponseSize }))
        await t.settle(log, `${size} of ${maxResponseSize}`, client.request({ path: `/${size}`, method: 'GET' }).then(({ body }) => body.text()))
      }
    }
  },
  'pipelining on a warm connection': async ({ Client }, t) => {
    const log = t.log('server')
    const held = []
    const server = await t.serve((request, response) => { log(request.method, request.url); if (request.url === '/first') response.end('x'); else held.push(response) })
    const client = t.own(new Client(server.url, { pipelining: 3 }))
    await client.request({ path: '/first', method: 'GET' }).then(({ body }) => body.text())
    const all = [1, 2, 3, 4].map(at => client.request({ path: `/${at}`, method: 'GET', blocking: false }).then(({ body }) => body.text()))
    while (held.length < 3) await turns(1)
    await turns(10)
    log('held', held.length)
    while (held.length > 0) { held.shift().end('y'); await turns(3) }
    const last = setInterval(() => { held.shift()?.end('y') }, 5)
    t.log('client')(await Promise.all(all))
    clearInterval(last)
  },
  'pipelining while the first answer is held': async (module, t) => {
    const { Client } = module
    const log = t.log('server')
    const held = []
    const probe = await t.serve((request, response) => { response.end() })
    const server = await t.serve((request, response) => { log(request.method, request.url); held.push(response) })
    const client = t.own(new Client(server.url, { pipelining: 3 }))
    const all = [1, 2, 3].map(at => client.request({ path: `/${at}`, method: 'GET' }).then(({ body }) => body.text()))
    while (held.length < 1) await turns(1)
    await roundTrips(module, t, { origin: probe.url, path: '/' })
    log('held', held.length)
    const last = setInterval(() => { held.shift()?.end('y') }, 5)
    t.log('client')(await Promise.all(all))
    clearInterval(last)
  },
  'the socket of an error': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serveAnswer(socket => { socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc') })
    const client = t.own(new Client(server.url))
    await client.request({ path: '/', method: 'POST', body: 'text' }).then(({ body }) => body.text()).catch(error => {
      const { socket } = error
      log(error, socket === null, Object.keys(socket ?? {}).sort().join(), socket?.bytesRead, socket?.bytesWritten > 0)
    })
  },
  'the socket of an error before the head': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serveAnswer(socket => { socket.end() })
    const client = t.own(new Client(server.url))
    await client.request({ path: '/', method: 'POST', body: 'text' }).then(({ body }) => body.text()).catch(error => {
      const { socket } = error
      log(error, socket === null, Object.keys(socket ?? {}).sort().join(), socket?.bytesRead, socket?.bytesWritten)
    })
  },
  'the body of a request': async ({ Client }, t) => {
    const log = t.log('server')
    const server = await t.serve(async (request, response) => { log((await bytesOf(request)).length, request.headers['transfer-encoding'], request.headers['content-length']); response.end() })
    const client = t.own(new Client(server.url))
    for (const body of [Readable.from([]), Readable.from(['']), Readable.from([Buffer.alloc(0)], { objectMode: false }), new Readable({ read () { this.push(null) } }), (async function * () {})(), new Blob([])]) {
      for (const method of ['POST', 'GET']) {
        if (body.destroyed) continue
        await client.request({ path: '/', method, body }).then(({ body }) => body.text()).catch(error => { log(error) })
      }
    }
  }
}

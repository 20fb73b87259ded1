// Connections: numbers of requests, names of servers, sources that pause; signals that abort bodies.
import { Readable } from 'node:stream'
import { cert } from '../stage.mjs'
import { get, programs, textOf } from '../page.mjs'

const count = (p, server, options, requests = 12) => {
  const client = p.client(server.url, options)
  return Promise.all(Array.from({ length: requests }, (_, index) => client.request({ ...get, path: `/${index}` }).then(textOf)))
}
/** Sources that are waited for no longer than `headersTimeout`. */
const PAUSES = {
  'an async generator': () => (async function * () { yield 'a'; await new Promise(() => {}) })(),
  'a Readable': () => { const source = new Readable({ read () {} }); source.push('a'); return source },
  'a Readable without a byte': () => new Readable({ read () {} }),
  'a ReadableStream': () => new ReadableStream({ start (to) { to.enqueue(new Uint8Array(2)) } })
}

export default programs({
  'numbers: pipelining and maxRequestsPerClient': async p => {
    for (const [pipelining, most] of [[1, 1], [2, 1], [2, 2], [4, 3], [4, 4], [10, 3], [3, 10], [100, 7]]) {
      const server = await p.serve((request, response) => { response.end(request.url) })
      p.log(pipelining, most, (await count(p, server, { pipelining, maxRequestsPerClient: most })).join(' '), server.counts.sockets)
    }
  },
  'numbers: a server with maxRequestsPerSocket': async p => {
    for (const pipelining of [1, 2, 5]) {
      const server = await p.serve((request, response) => { response.end(request.url) })
      server.server.maxRequestsPerSocket = 3
      const client = p.client(server.url, { pipelining })
      const statuses = await Promise.all(Array.from({ length: 9 }, (_, index) => client.request({ ...get, path: `/${index}` }).then(async answer => { await answer.body.dump(); return answer.statusCode })))
      p.log(pipelining, statuses.join(' '))
    }
  },
  'names: of the host, of the request and of the dispatcher': async p => {
    const server = await p.stage.serveH2((request, response) => { response.end(request.socket.servername || 'none') }, { allowHTTP1: true })
    for (const servername of [undefined, 'x.test']) {
      for (const request of [{}, { headers: { host: 'a.test' } }, { headers: { host: 'a.test:99' } }, { headers: { host: '127.0.0.1' } }, { servername: 'q.test' }, { servername: 'q.test', headers: { host: 'a.test' } }, { servername: '' }]) {
        const client = p.own(new p.module.Client(server.url, { allowH2: false, connect: { rejectUnauthorized: false, ...(servername === undefined ? {} : { servername }) } }))
        await p.settle(`${servername} ${JSON.stringify(request)}`, client.request({ ...get, ...request }).then(textOf))
      }
    }
  },
  'reasons: of a signal that aborts a body of fetch': async p => {
    const server = await p.serve((request, response) => { response.write('part') })
    for (const reason of [undefined, null, 0, '', false, 'text', new Error('mine')]) {
      const controller = new AbortController()
      const answer = await p.module.fetch(server.url, { dispatcher: p.agent(), signal: controller.signal })
      const text = answer.text()
      controller.abort(reason)
      await p.settle(String(reason), text)
    }
  },
  'pauses: sources over HTTP/2': async p => {
    const server = await p.stage.serveH2(() => {})
    for (const [name, source] of Object.entries(PAUSES)) {
      const client = p.client(server.url, { headersTimeout: 300, connect: { ca: cert } })
      await client.request({ path: '/', method: 'POST', body: source() }).then(() => { p.log(name, 'answered') }, error => { p.log(name, error.name, error.code) })
    }
  },
  'pauses: a source over HTTP/2 that goes on in time': async p => {
    const server = await p.stage.serveH2((request, response) => { request.resume().on('end', () => { response.end('ok') }) })
    const client = p.client(server.url, { headersTimeout: 900, connect: { ca: cert } })
    const body = (async function * () { for (let part = 0; part < 4; part++) { await new Promise(resolve => { setTimeout(resolve, 300) }); yield 'a' } })()
    await p.settle('request', client.request({ path: '/', method: 'POST', body }).then(textOf))
  },
  'pauses: a source over HTTP/2 whose answer has begun': async p => {
    const server = await p.stage.serveH2((request, response) => { response.write('be'); request.resume().on('end', () => { response.end('gun') }) })
    const client = p.client(server.url, { headersTimeout: 200, connect: { ca: cert } })
    const body = (async function * () { yield 'a'; await new Promise(resolve => { setTimeout(resolve, 500) }); yield 'b' })()
    await p.settle('request', client.request({ path: '/', method: 'POST', body }).then(textOf))
  }
})

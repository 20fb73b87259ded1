// Bodies of requests: what is sent of them, when they are read, and what becomes of them.
import { createReadStream, mkdtempSync, openAsBlob, rmSync, writeFileSync } from 'node:fs'
import { EventEmitter } from 'node:events'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex, PassThrough, Readable } from 'node:stream'
import { bytesOf, closing, turns } from '../stage.mjs'

const POST = { path: '/', method: 'POST' }

/** A server's report of a request: its framing and its body. */
const reported = async (request, response) => {
  const body = await bytesOf(request).catch(error => error.code)
  const { 'content-length': length = '-', 'transfer-encoding': coding = '-', 'content-type': type = '-' } = request.headers
  response.end(`${request.method} ${length} ${coding} ${type} ${body.length > 40 ? body.length : body}`)
}

/** This process runs the programs with undici itself. */
const isUndici = process.argv[2] === 'undici'

/** A program that sends one request, and tells what the server and the client saw. */
const sends = (options, client = {}, { watched } = {}) => async ({ Client }, t) => {
  const log = t.log('client')
  const server = await t.serve(reported)
  const dispatcher = t.own(new Client(server.url, client))
  const asked = typeof options === 'function' ? options() : options
  if (watched) t.watch(t.log('source'), asked.body, 'source', ['end', 'error', 'close'])
  await t.settle(log, 'request', dispatcher.request({ ...POST, ...asked }).then(({ body }) => body.text()))
  await turns()
}

/** A body in pieces, of no known length. */
const pieces = (...all) => ({ body: Readable.from(all.map(piece => Buffer.from(piece)), { objectMode: false }) })
const ended = text => { const stream = new PassThrough(); stream.end(text); return stream }

const refused = {
  'a path that is refused': { path: 'x' },
  'a header that is refused': { headers: { 'a b': 'c' } },
  'a method that is refused': { method: 'P OST' },
  'a signal that is none': { signal: 7 },
  'a signal that has aborted': { signal: AbortSignal.abort() },
  'an upgrade': { upgrade: 'websocket' },
  'a content-length of another body': { headers: { 'content-length': 'x' } }
}
const programs = {}
for (const [name, options] of Object.entries(refused)) {
  programs[`the stream of a request that is refused is ended: ${name}`] = async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(reported)
    const client = t.own(new Client(server.url))
    const body = new PassThrough()
    const closed = closing(body)
    await client.request({ ...POST, ...options, body }).catch(() => { log('rejected') })
    await closed
    log('destroyed', body.destroyed)
  }
}
for (const [name, file] of Object.entries({ 'an empty file': 0, 'a small file': 1000, 'a large file': 300_000 })) {
  programs[`${name} with its content-length, one after another on one connection`] = async ({ Client }, t) => {
    const log = t.log('client')
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-upload-'))
    try {
      const path = join(folder, 'file')
      writeFileSync(path, Buffer.alloc(file, 'a'))
      const server = await t.serve(reported)
      const client = t.own(new Client(server.url))
      for (let round = 0; round < 5; round++) {
        const { body } = await client.request({ ...POST, body: createReadStream(path), headers: { 'content-length': String(file) } })
        log(await body.text())
        const blob = await client.request({ ...POST, body: await openAsBlob(path) })
        log(await blob.body.text())
      }
      // undici's may end where an answer comes before the end of its file, the more of them the busier the machine is.
      log('few connections', isUndici || server.counts.sockets <= 4)
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
}

/** A proxy that gives each request that it gets as the body of one to `url`; a failure is answered with 502. */
const proxied = async ({ Client }, t, url) => {
  const upstream = t.own(new Client(url))
  return await t.serve((request, response) => {
    const { method } = request
    upstream.request({ path: '/', method, body: request }, (error, answer) => {
      if (error === null) return answer.body.pipe(response)
      response.statusCode = 502
      response.end(error.code)
    })
  })
}
/** Requests of node:http, one after another: what came of each. */
const ask = async (log, { port }, all) => {
  for (const { method, headers = {}, body } of all) {
    await new Promise(resolve => {
      const asked = http.request({ port, host: '127.0.0.1', method, headers }, async response => {
        log(method, response.statusCode, String(await bytesOf(response)))
        resolve()
      })
      asked.on('error', error => { log(method, error.code); resolve() })
      asked.end(body)
    })
  }
}
const KINDS = [{ method: 'GET' }, { method: 'PUT', headers: { 'content-length': 5 }, body: 'hello' }, { method: 'POST', headers: { 'transfer-encoding': 'chunked' } }, { method: 'DELETE' }]
const ROUNDS = [...KINDS, ...KINDS, ...KINDS, ...KINDS, ...KINDS]

export default {
  ...programs,
  'requests of node:http as bodies, read': async (module, t) => {
    const server = await t.serve(async (request, response) => { response.end(String((await bytesOf(request)).length)) })
    await ask(t.log('client'), await proxied(module, t, server.url), ROUNDS)
  },
  'requests of node:http as bodies, answered without being read': async (module, t) => {
    const server = await t.serve((_, response) => { response.end('answered') })
    await ask(t.log('client'), await proxied(module, t, server.url), ROUNDS)
  },
  'a request of node:http as a body, to a server that refuses': async (module, t) => {
    await ask(t.log('client'), await proxied(module, t, 'http://localhost:1'), KINDS)
  },
  'bodies that turn out to be empty, on one connection': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(reported)
    const client = t.own(new Client(server.url))
    for (const method of ['GET', 'OPTIONS', 'DELETE', 'POST', 'PUT', 'PATCH']) {
      const body = new Readable({ read () { setImmediate(() => { this.push(null) }) } })
      const { body: answer } = await client.request({ path: '/', method, body })
      log(method, await answer.text(), server.counts.sockets)
    }
  },
  'each chunk of a stream is a chunk of its own': async ({ Client }, t) => {
    const log = t.log('server')
    const chunks = []
    const server = await t.serveRaw(socket => {
      let text = ''
      socket.on('data', bytes => {
        text += bytes
        if (!text.endsWith('\r\n0\r\n\r\n')) return
        chunks.push(text.slice(text.indexOf('\r\n\r\n') + 4))
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      })
    })
    const client = t.own(new Client(server.url))
    let count = 0
    const body = new Readable({ read () { this.push(++count > 4 ? null : 'a'.repeat(count)) } })
    await client.request({ ...POST, body }).then(({ body }) => body.text())
    log(chunks[0])
  },
  'an empty origin beside an option that is wrong': async ({ Client, Pool }, t) => {
    const log = t.log('client')
    for (const options of [{ connections: -1 }, { connections: true }, {}]) t.attempt(log, 'Pool', () => new Pool(null, options))
    for (const options of [{ keepAliveTimeout: 'x' }, {}]) t.attempt(log, 'Client', () => new Client(null, options))
  },
  'a text': sends({ body: 'hello' }),
  'a text with its content-length': sends({ body: 'hello', headers: { 'content-length': '5' } }),
  'a text with another content-length': sends({ body: 'hello', headers: { 'content-length': '7' } }),
  'a text with another content-length, not strict': sends({ body: 'hello', headers: { 'content-length': '7' } }, { strictContentLength: false }),
  'a GET with a text': sends({ method: 'GET', body: 'hello' }),
  'a GET with a text and another content-length': sends({ method: 'GET', body: 'hello', headers: { 'content-length': '7' } }),
  'a HEAD with a text and another content-length': sends({ method: 'HEAD', body: 'hello', headers: { 'content-length': '7' } }),
  'a DELETE with a text and another content-length': sends({ method: 'DELETE', body: 'hello', headers: { 'content-length': '7' } }),
  'a stream': sends(() => pieces('he', 'llo')),
  'a stream with its content-length': sends(() => ({ ...pieces('he', 'llo'), headers: { 'content-length': '5' } }), {}, { watched: true }),
  'a stream of less than its content-length': sends(() => ({ ...pieces('he', 'llo'), headers: { 'content-length': '7' } })),
  'a stream of more than its content-length': sends(() => ({ ...pieces('he', 'llo'), headers: { 'content-length': '3' } })),
  'a stream of more than its content-length, not strict': sends(() => ({ ...pieces('he', 'llo'), headers: { 'content-length': '3' } }), { strictContentLength: false }),
  'a stream of as much as its content-length and then more, not strict': sends(() => ({ ...pieces('hello', 'more'), headers: { 'content-length': '5' } }), { strictContentLength: false }),
  'a stream that has ended': sends(() => ({ body: ended('hello') })),
  'a stream that has ended, of nothing': sends(() => ({ body: ended() })),
  'a GET with a stream that has ended, of nothing': sends(() => ({ method: 'GET', body: ended() })),
  'a stream that is destroyed': sends(() => ({ body: new PassThrough().destroy() })),
  'a stream that is destroyed with an error': sends(() => ({ body: new PassThrough().on('error', () => {}).destroy(new Error('mine')) })),
  'a stream that is destroyed while it is sent': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(request => { request.on('error', () => {}) })
    const client = t.own(new Client(server.url))
    const body = new PassThrough()
    const asked = client.request({ ...POST, body })
    body.write('hello')
    server.server.once('request', () => { body.destroy() })
    await t.settle(log, 'request', asked)
  },
  'a stream that fails while it is sent': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(request => { request.on('error', () => {}) })
    const client = t.own(new Client(server.url))
    const body = new PassThrough()
    const asked = client.request({ ...POST, body })
    body.write('hello')
    server.server.once('request', () => { body.destroy(new Error('mine')) })
    await t.settle(log, 'request', asked)
  },
  'a stream of objects': sends(() => ({ body: Readable.from([{ a: 1 }]) })),
  'an iterable of objects': sends(() => ({ body: [{ a: 1 }] })),
  'an iterable of texts': sends(() => ({ body: ['he', 'llo'] })),
  'an iterable of nothing': sends(() => ({ body: [] })),
  'an async iterable': sends(() => ({ body: (async function * () { yield 'he'; yield Buffer.from('llo') })() })),
  'an async iterable that fails': sends(() => ({ body: (async function * () { yield 'he'; throw new Error('mine') })() })),
  'an object that stands for a Blob and has no stream': sends({ body: { [Symbol.toStringTag]: 'Blob', arrayBuffer: async () => new ArrayBuffer(2) } }),
  'an object': sends({ body: { a: 1 } }),
  'a number': sends({ body: 7 }),
  'a stream of the oldest kind, without destroy': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(reported)
    const client = t.own(new Client(server.url))
    const old = Object.assign(new EventEmitter(), { pipe: () => {}, pause: () => {}, resume () { setImmediate(() => { if (!this.printed) { this.printed = true; this.emit('data', Buffer.from('hello')); this.emit('end') } }) } })
    await t.settle(log, 'request', client.request({ ...POST, body: old }).then(({ body }) => body.text()))
  },
  'a stream of the oldest kind, in a request that is refused': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(reported)
    const client = t.own(new Client(server.url))
    const old = Object.assign(new EventEmitter(), { pipe: () => {}, pause: () => {}, resume: () => {} })
    await t.settle(log, 'request', client.request({ ...POST, body: old, headers: { 'a b': 'c' } }))
  },
  'the sources of requests that wait in line are not read': async ({ Client }, t) => {
    const log = t.log('client')
    let answer
    const server = await t.serve((request, response) => { request.resume(); answer ??= response })
    const client = t.own(new Client(server.url))
    const first = client.request({ path: '/', method: 'GET' })
    await new Promise(resolve => { server.server.once('request', resolve) })
    let read = 0
    const asked = Array.from({ length: 10 }, () => client.request({ ...POST, body: new Readable({ read () { read++; this.push(Buffer.alloc(65_536)) } }) }).catch(error => error))
    await turns(20)
    // undici asks each stream once whether it has ended.
    log('read of those in line', read <= 20)
    first.catch(() => {})
    await client.destroy()
    log((await Promise.all(asked)).map(({ code }) => code).join())
  },
  'an iterable of a request that waits in line is not begun': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(() => {})
    const client = t.own(new Client(server.url))
    client.request({ path: '/', method: 'GET' }).catch(() => {})
    await new Promise(resolve => { server.server.once('request', resolve) })
    let read = 0
    client.request({ ...POST, body: (function * () { read++; yield 'x' })() }).catch(() => {})
    await turns(20)
    log('read', read)
  },
  'a Duplex whose other side is open': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(reported)
    const body = new Duplex({ read () { this.push('read'); this.push(null) }, write (chunk, encoding, done) { done() } })
    const closed = closing(body)
    await t.settle(log, 'request', t.own(new Client(server.url)).request({ ...POST, body }).then(({ body }) => body.text()))
    await closed
    log(body.destroyed, body.writableFinished)
  },
  'the headers timeout while the source pauses': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(reported)
    const client = t.own(new Client(server.url, { headersTimeout: 1000 }))
    const body = new PassThrough()
    const asked = client.request({ ...POST, body })
    body.write('begin')
    setTimeout(() => { body.end('end') }, 3000)
    await t.settle(log, 'request', asked.then(({ body }) => body.text()))
  }
}

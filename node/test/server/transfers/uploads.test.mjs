// Uploads whose answer ends before they are read. A table of all combinations: what came whole is read
// whole at any speed of the reader, and what was cut ends its reader with an error.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import { connect } from 'node:net'
import { Writable, pipeline } from 'node:stream'
import test from 'node:test'
import { Agent, createSecureServer, createServer, serve } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'

const SIZES = { '60 kB': 60_000, '2 MB': 2_000_000 }
/** Bytes that the first window of a stream has room for. */
const SENT_AT_ONCE_MAX = 64_000
/** Milliseconds of the sink per piece. */
const SPEEDS = { 'a fast sink': 0, 'a slow sink': 1 }
/** When the handler ends its answer. */
const ANSWERS = ['before it reads', 'when it has read', 'never']
/** The client's action when it has sent all and has the response, or when half is sent. */
const CLIENTS = ['keeps the connection', 'closes the connection', 'breaks off in the middle']

/** The bytes of a reader, and how they ended. */
class Sink extends Writable {
  bytes = 0
  constructor (ms) {
    super({ highWaterMark: 16 * 1024 })
    this.ms = ms
  }

  _write (chunk, _encoding, done) {
    this.bytes += chunk.length
    if (this.ms === 0) setImmediate(done)
    else setTimeout(done, this.ms)
  }
}

/** Reads a stream of node's into a sink; resolves with what came of it. */
const drained = (stream, ms) => new Promise(resolve => {
  const sink = new Sink(ms)
  pipeline(stream, sink, error => { resolve({ bytes: sink.bytes, end: error == null ? 'end' : 'error', complete: stream.complete }) })
})

/** Handlers of each API: they begin to read, answer as `row` says, and give what they have read. */
const APIS = {
  compat (row, reported) {
    return (request, response) => {
      const early = row.answer === 'before it reads'
      if (early) response.writeHead(202).end('early')
      reported(drained(request, row.ms).then(read => {
        if (row.answer === 'when it has read' && read.end === 'end') response.end('late')
        return read
      }))
    }
  },
  core (row, reported) {
    return stream => {
      const early = row.answer === 'before it reads'
      stream.on('error', () => {})
      if (early) {
        stream.respond({ ':status': 202 })
        stream.end('early')
      }
      reported(drained(stream, row.ms).then(read => {
        if (row.answer === 'when it has read' && read.end === 'end') {
          stream.respond({ ':status': 200 })
          stream.end('late')
        }
        return read
      }))
    }
  },
  serve (row, reported) {
    return async request => {
      const read = (async () => {
        let bytes = 0
        try {
          for await (const piece of request.body) {
            bytes += piece.length
            await new Promise(resolve => { row.ms === 0 ? setImmediate(resolve) : setTimeout(resolve, row.ms) })
          }
          return { bytes, end: 'end' }
        } catch {
          return { bytes, end: 'error' }
        }
      })()
      reported(read)
      if (row.answer === 'before it reads') return new Response('early', { status: 202 })
      if (row.answer === 'never') return new Promise(() => {})
      await read
      return new Response('late')
    }
  }
}

/** A server of the API that serves every version, in cleartext or not. */
async function listening (api, version, row, reported) {
  const tls = version === 'h3' ? { tls: { cert, key }, http3: true } : {}
  const handler = APIS[api](row, reported)
  if (api === 'serve') {
    const server = serve({ fetch: handler, port: 0, hostname: '127.0.0.1', ...tls })
    return { port: server.port, end: () => server.destroy() }
  }
  const server = version === 'h3' ? createSecureServer({ cert, key, allowHTTP1: true, http3: true }) : createServer()
  server.on(api === 'core' ? 'stream' : 'request', handler)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: server.address().port, end: async () => { server.close(); server.compatServer.destroy() } }
}

/** Clients: they send `size` bytes and do as `row` says; each gives a function that ends it. */
const SENDERS = {
  async h1 (port, { size, client, answer, begun }) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    const head = `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${size}\r\n\r\n`
    let received = ''
    const answered = new Promise(resolve => { socket.on('data', piece => { if ((received += piece.toString('latin1')).includes('early') || received.includes('late')) resolve() }) })
    if (client === 'breaks off in the middle') {
      socket.write(head)
      socket.write(Buffer.alloc(size / 2), () => { begun.then(() => { socket.end() }) })
    } else {
      socket.write(head)
      const sent = new Promise(resolve => { socket.write(Buffer.alloc(size), resolve) })
      if (answer === 'before it reads' || client === 'keeps the connection') await Promise.all([sent, answer === 'never' ? null : answered])
      if (client === 'closes the connection') socket.end()
    }
    return () => { socket.destroy() }
  },
  async h2 (port, { size, client, answer, begun }) {
    const session = http2.connect(`http://127.0.0.1:${port}`)
    session.on('error', () => {})
    const stream = session.request({ ':method': 'POST' })
    stream.on('error', () => {})
    stream.resume()
    if (client === 'breaks off in the middle') {
      stream.write(Buffer.alloc(size / 2), () => { begun.then(() => { session.destroy() }) })
    } else {
      const [finished, closed] = [once(stream, 'finish'), once(stream, 'close')]
      stream.end(Buffer.alloc(size))
      // A stream of node's whose answer is whole may close without a word on what it has sent.
      await (answer === 'never' ? finished : closed)
      if (client === 'closes the connection') answer === 'never' ? session.destroy() : session.close()
    }
    return () => { session.destroy() }
  },
  async h3 (port, { size, client, answer, begun }) {
    const agent = new Agent({ http3: 'only', connect: { ca: cert } })
    const asked = { origin: `https://localhost:${port}`, path: '/', method: 'POST' }
    const broken = client === 'breaks off in the middle'
    const pieces = async function * () {
      yield Buffer.alloc(size / 2)
      await begun
      throw new Error('the client breaks off')
    }
    const answered = agent.request({ ...asked, body: broken ? pieces() : Buffer.alloc(size) }).then(response => response.body.arrayBuffer())
    answered.catch(() => {})
    if (!broken && answer !== 'never') {
      await answered
      if (client === 'closes the connection') await agent.destroy()
    }
    return () => agent.destroy()
  }
}

/** The expected result of a reader; null: all of it or an error, by what the client gave up. */
function expected (version, { size, client, answer }) {
  if (client === 'breaks off in the middle') return { end: 'error' }
  // A client that closes before it has an answer gives the exchange up.
  if (client === 'closes the connection' && answer !== 'before it reads') return null
  // The client of HTTP/3 is this package's: as undici it sends no more of a request whose answer is whole. Only
  // what it sends at once is sure to leave.
  if (version === 'h3' && answer === 'before it reads' && (size > SENT_AT_ONCE_MAX || client !== 'keeps the connection')) return null
  return { end: 'end', bytes: size }
}

for (const version of ['h1', 'h2', 'h3']) {
  for (const api of Object.keys(APIS).filter(api => version !== 'h1' || api !== 'core')) {
    for (const client of CLIENTS) {
      test(`${version}, ${api}: an upload of a client that ${client} is read whole or ends with an error`, async () => {
        for (const [speed, ms] of Object.entries(SPEEDS)) {
          for (const answer of ANSWERS) {
            for (const [named, size] of Object.entries(SIZES)) {
              const name = `${named} into ${speed}, answered ${answer}`
              let reported
              const begun = new Promise(resolve => { reported = read => { resolve({ read }) } })
              const row = { size, ms, answer, client, begun }
              const server = await listening(api, version, row, reported)
              const end = await SENDERS[version](server.port, row)
              const { read } = await begun
              const came = await read
              const wanted = expected(version, row)
              if (wanted !== null) assert.deepEqual({ ...wanted, ...Object.fromEntries(Object.keys(wanted).map(one => [one, came[one]])) }, wanted, `${name}: ${JSON.stringify(came)}`)
              assert.ok(came.end === 'error' || came.bytes === size, `${name}: cut in silence behind ${came.bytes} bytes`)
              await end()
              await server.end()
            }
          }
        }
      })
    }
  }
}

test('an upload that is reset in the turn of its head, behind an answer, fails the pipeline that reads it', async t => {
  const server = createServer()
  const read = new Promise(resolve => {
    server.on('stream', stream => {
      stream.on('error', () => {})
      stream.respond({ ':status': 202 })
      stream.end('early')
      resolve(drained(stream, 0))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect(server.address().port, '127.0.0.1')
  t.after(() => { socket.destroy(); server.close(); server.compatServer.destroy() })
  socket.on('error', () => {})
  // SETTINGS; POST http://a/ on stream 1, whose body is to come (RFC 7541 appendix A); RST_STREAM with CANCEL.
  socket.write(Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    Buffer.from('000000040000000000', 'hex'),
    Buffer.from('000006010400000001' + '838684' + '410161', 'hex'),
    Buffer.from('000004030000000001' + '00000008', 'hex')
  ]))
  assert.deepEqual(await read, { bytes: 0, end: 'error', complete: undefined })
})

test('an upload that came whole and is reset while its reader pauses fails the pipeline that reads it, or comes whole', async t => {
  const server = createServer()
  const data = (size, flags) => Buffer.concat([Buffer.from([0, size >> 8, size & 255, 0, flags, 0, 0, 0, 1]), Buffer.alloc(size)])
  const socket = { now: null }
  const read = new Promise(resolve => {
    server.on('stream', stream => {
      stream.on('error', () => {})
      const aborted = once(stream, 'aborted')
      let bytes = 0
      const sink = new Writable({
        highWaterMark: 1,
        write (chunk, _encoding, done) {
          bytes += chunk.length
          // The rest and its end, which wait for this sink, and RST_STREAM with CANCEL behind them.
          if (bytes === chunk.length) socket.now.write(Buffer.concat([data(100, 1), Buffer.from('00000403000000000100000008', 'hex')]))
          aborted.then(() => { setImmediate(done) })
        }
      })
      pipeline(stream, sink, error => { resolve({ bytes, end: error == null ? 'end' : 'error' }) })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  socket.now = connect(server.address().port, '127.0.0.1')
  t.after(() => { socket.now.destroy(); server.close(); server.compatServer.destroy() })
  socket.now.on('error', () => {})
  socket.now.write(Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    Buffer.from('000000040000000000', 'hex'),
    Buffer.from('000006010400000001' + '838684' + '410161', 'hex'),
    data(100, 0)
  ]))
  const { bytes, end } = await read
  assert.ok(end === 'error' || bytes === 200, `${end} behind ${bytes} bytes`)
})

for (const [name, make, agent] of [
  ['h2', options => createServer(options), { useH2c: true }],
  ['h2 over TLS', options => createSecureServer({ cert, key, ...options }), { connect: { ca: cert } }],
  ['h3', options => createSecureServer({ cert, key, http3: true, ...options }), { connect: { ca: cert }, http3: 'only' }]
]) {
  test(`${name}: uploads to a server whose first window is zero come whole, also behind its settings`, async t => {
    const server = make({ settings: { initialWindowSize: 0 } })
    server.on('request', async (request, response) => {
      let bytes = 0
      for await (const piece of request) bytes += piece.length
      response.end(String(bytes))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => new Promise(resolve => { server.close(resolve) }))
    const client = new Agent(agent)
    t.after(() => client.close())
    const origin = `${name === 'h2' ? 'http' : 'https'}://localhost:${server.address().port}`
    for (const bytes of [0, 5, 16_384, 16_385, 2_000_000]) {
      const answer = await client.request({ origin, path: '/', method: 'POST', body: Buffer.alloc(bytes) })
      assert.equal(await answer.body.text(), String(bytes))
    }
  })
}

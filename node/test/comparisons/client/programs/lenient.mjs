// Streams and callbacks of callers that are no usual ones: sinks, sources and handlers of their own, and answers that open
// nothing.
import { PassThrough, Readable, Writable } from 'node:stream'
import { closing, turns } from '../stage.mjs'

/** An upgrade to which a server answers these lines. */
const upgraded = lines => async ({ Client }, t) => {
  const log = t.log('client')
  const server = await t.serveAnswer(`${lines.join('\r\n')}\r\n\r\n`)
  const client = t.own(new Client(server.url))
  await t.settle(log, 'upgrade', client.upgrade({ path: '/', protocol: 'own' }).then(({ socket }) => { socket.destroy(); return 'opened' }))
}

/** A call with a body and what is no callback. */
const called = call => async ({ Client }, t) => {
  const log = t.log('client')
  const server = await t.serve((request, response) => { response.end() })
  const client = t.own(new Client(server.url))
  const body = new Readable({ read () {} })
  body.on('error', error => { log('body', error) })
  t.attempt(log, 'call', () => call(client, { path: '/', method: 'PUT', body }))
  await turns()
  log('destroyed', body.destroyed)
}

/** `stream` into a sink, of which `make` is called with what the sink got. */
const poured = make => async ({ Client }, t) => {
  const log = t.log('client')
  const server = await t.serve((request, response) => { response.end(Buffer.alloc(200_000)) })
  const client = t.own(new Client(server.url))
  let bytes = 0
  const sink = make(piece => { bytes += piece.length })
  await t.settle(log, 'stream', client.stream({ path: '/', method: 'GET' }, () => sink).then(() => bytes))
}

export default {
  'an upgrade with both fields': upgraded(['HTTP/1.1 101 Switching Protocols', 'connection: upgrade', 'upgrade: own']),
  'an upgrade without upgrade': upgraded(['HTTP/1.1 101 Switching Protocols', 'connection: upgrade']),
  'an upgrade without fields': upgraded(['HTTP/1.1 101 Switching Protocols']),
  'request with a wrong callback': called((client, options) => client.request(options, null)),
  'stream with a wrong callback': called((client, options) => client.stream(options, () => {}, null)),
  'stream with a wrong factory': called((client, options) => client.stream(options, null, () => {})),
  'a sink whose write returns nothing': poured(got => {
    const sink = new Writable({ write (piece, _, done) { got(piece); done() } })
    const { write } = sink
    sink.write = (...args) => { write.apply(sink, args) }
    return sink
  }),
  'a sink that waits for drain and does not say so': poured(got => {
    const sink = new PassThrough()
    Object.defineProperty(sink, 'writableNeedDrain', { value: undefined })
    while (sink.write(Buffer.alloc(4096)));
    sink.on('data', got)
    return sink
  }),
  'a handler of pipeline whose stream has no destroy': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.end('text') })
    const client = t.own(new Client(server.url))
    const duplex = client.pipeline({ path: '/', method: 'GET' }, ({ body }) => Object.assign(body.pipe(new PassThrough({ autoDestroy: false })), { destroy: null }))
    t.watch(log, duplex, 'duplex', ['end', 'error', 'close'])
    const closed = closing(duplex)
    duplex.end().resume()
    await closed
  },
  'a handler of pipeline that destroys its body': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.write('begin') })
    const client = t.own(new Client(server.url))
    const duplex = client.pipeline({ path: '/', method: 'GET' }, ({ body }) => {
      t.watch(log, body, 'body', ['end', 'error', 'close'])
      body.once('data', () => { body.destroy() })
      return body
    })
    t.watch(log, duplex, 'duplex', ['end', 'error', 'close'])
    const closed = closing(duplex)
    duplex.end().resume()
    await closed
  },
  'a source that does not destroy itself': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { request.pipe(response) })
    const client = t.own(new Client(server.url))
    for (const autoDestroy of [true, false]) {
      const body = new Readable({ autoDestroy, read () {} })
      body.push('text')
      body.push(null)
      log(await client.request({ path: '/', method: 'POST', body }).then(({ body }) => body.text()))
      log(autoDestroy, body.destroyed)
    }
  }
}

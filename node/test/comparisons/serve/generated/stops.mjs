// The end of a server by each call, with connections in each state: what becomes of the call, of responses and of clients.
import { turns } from '../../sides.mjs'

const LONG = 'x'.repeat(8 << 20)
const get = path => `GET /${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`
const UPGRADE = 'GET /socket HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'

/** States of a connection: what brings it there. `begun` resolves when the handler of /held has the request. */
const STATES = {
  'no connection': null,
  'an idle connection': async (connection, { log }) => {
    connection.write(get('text'))
    log(await connection.next())
  },
  'a request that is held': async (connection, { begun }) => {
    connection.write(get('held'))
    await begun
  },
  'a request that is held, and one behind it': async (connection, { begun }) => {
    connection.write(get('held') + get('text'))
    await begun
  },
  'a held request with a part of its body': async (connection, { begun }) => {
    connection.write('POST /held HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nhello')
    await begun
  },
  'a stream that is held': async (connection, { begun }) => {
    connection.write(get('stream'))
    while (!connection.held.includes('first')) await connection.more()
    await begun
  },
  'a long answer': async (connection, { begun }) => {
    connection.write(get('long'))
    await begun
    while (!connection.held.includes('\r\n\r\n')) await connection.more()
    connection.socket.pause()
  },
  'a WebSocket': async (connection, { log }) => {
    connection.write(UPGRADE)
    while (!connection.held.includes('\r\n\r\n')) await connection.more()
    log(connection.held.toString('latin1', 0, 12))
  }
}

/** Ways to end. */
const CALLS = {
  'stop()': server => [server.stop()],
  'stop(false)': server => [server.stop(false)],
  'stop(true)': server => [server.stop(true)],
  'stop(), then stop(true)': server => [server.stop(), server.stop(true)],
  'stop() twice': server => [server.stop(), server.stop()],
  'stop(true) twice': server => [server.stop(true), server.stop(true)],
  'stop(true), then stop()': server => [server.stop(true), server.stop()],
  'closeIdleConnections(), then stop()': server => {
    server.closeIdleConnections()
    return [server.stop()]
  }
}

const program = (state, label) => async (module, stage) => {
  const call = CALLS[label]
  const log = stage.log('client')
  const own = stage.log('server')
  const ends = stage.log('ends')
  let [release, begin] = []
  const held = new Promise(resolve => { release = resolve })
  const begun = new Promise(resolve => { begin = resolve })
  const server = stage.serve(module, {
    idleTimeout: 200,
    async fetch (request, server) {
      const { pathname } = new URL(request.url)
      if (pathname === '/text') return new module.Response('text')
      if (pathname === '/socket') return server.upgrade(request) ? undefined : new module.Response('none', { status: 400 })
      request.signal.addEventListener('abort', () => { own(pathname, 'is aborted') })
      begin()
      if (pathname === '/long') return new module.Response(LONG)
      if (pathname === '/held') {
        await held
        return new module.Response('held')
      }
      let at = 0
      return new module.Response(new ReadableStream({
        async pull (controller) {
          if (at++ === 0) return controller.enqueue(new TextEncoder().encode('first'))
          await held
          controller.enqueue(new TextEncoder().encode('second'))
          controller.close()
        },
        cancel () { own('the stream is cancelled') }
      }))
    },
    websocket: { message () {}, close (ws, code) { own('close', code) } }
  })
  let connection = null
  if (state !== null) {
    connection = await stage.connect(server)
    await state(connection, { begun, log })
  }
  let count = 0
  const stopped = call(server).map(one => Promise.resolve(one).then(() => { count++ }))
  await turns(10)
  const isForced = label.includes('true')
  if (!isForced && connection !== null && !connection.isOver) ends(count, 'of', stopped.length, 'have resolved')
  release()
  if (connection !== null) {
    connection.socket.resume()
    if (state === STATES['a held request with a part of its body'] && !isForced) connection.write('world')
    if (state === STATES['a WebSocket']) {
      if (!isForced) connection.socket.destroy()
    } else if (state !== STATES['an idle connection']) {
      const first = await connection.next()
      // How much of it a client has is a matter of time.
      log(isForced && state === STATES['a long answer'] ? 'something' : first)
      if (state === STATES['a request that is held, and one behind it'] && !isForced) log(await connection.next())
    }
    while (!connection.isOver && !connection.socket.destroyed) await connection.more()
  }
  await Promise.all(stopped)
  ends('all have resolved', server.pendingRequests, server.pendingWebSockets)
}

const programs = {}
for (const [name, state] of Object.entries(STATES)) {
  for (const label of Object.keys(CALLS)) programs[`${name}, ${label}`] = program(state, label)
}
export default programs

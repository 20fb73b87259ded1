// upgrade() and connect() x version of HTTP x dispatcher x outcome: what their callers see of what is opened, or why
// nothing is.
import { cert } from '../../../support/certificates/certificate.mjs'
import { ownServer } from '../origins.mjs'
import { closing } from '../stage.mjs'

const MAKE = {
  Client: (module, origin, options) => new module.Client(origin, options),
  Pool: (module, origin, options) => new module.Pool(origin, options),
  Agent: (module, origin, options) => new module.Agent(options)
}
const VERSIONS = { h1: {}, h1s: { allowH2: false, connect: { ca: cert } } }
const HEADS = {
  upgrade: 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\nx-own: mine\r\n\r\n',
  connect: 'HTTP/1.1 200 OK\r\nx-own: mine\r\n\r\n'
}
const open = (socket, face) => { socket.write(HEADS[face]) }
const echo = (socket, face) => { open(socket, face); socket.pipe(socket) }
/** Acts of the server on the socket of the request. */
const SERVERS = {
  'an echo': echo,
  'an end at once': (socket, face) => { socket.end(HEADS[face]) },
  'bytes in front of those of the client': (socket, face) => { socket.write(`${HEADS[face]}early`); socket.pipe(socket) },
  'an interim head first': (socket, face) => { socket.write('HTTP/1.1 103 Early Hints\r\nx-own: early\r\n\r\n'); echo(socket, face) },
  'the connection ends before the head': socket => { socket.destroy() },
  'the connection ends in the head': (socket, face) => { socket.end(HEADS[face].slice(0, -4)) },
  '404': socket => { socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 2\r\n\r\nno') },
  '500 without a body': socket => { socket.end('HTTP/1.1 500 Sorry\r\nconnection: close\r\ncontent-length: 0\r\n\r\n') },
  'no head': () => {}
}
/** The name, the code and the words of an error; the number of a port is chance. */
const known = error => [error?.name, error?.code ?? 'without a code', error?.message?.replace(/\d{5}/g, 'PORT')].join(' ')
/** Acts of the client on the socket that was opened. */
const CLIENTS = {
  'writes and ends': socket => { socket.end('hello') },
  'writes twice and ends': socket => { socket.write('hel'); socket.end('lo') },
  'writes 100 KB and ends': socket => { socket.end(Buffer.alloc(100_000)) },
  'destroys it': socket => { socket.destroy() },
  'destroys it with an error': socket => { socket.destroy(new Error('over')) }
}
const ACTS = {
  'aborts before': { when: 'before', act: ({ controller }) => { controller.abort() } },
  'aborts with a reason before': { when: 'before', act: ({ controller }) => { controller.abort(new Error('enough')) } },
  'destroys the dispatcher before': { when: 'before', act: ({ dispatcher }) => { dispatcher.destroy().catch(() => {}) } },
  'closes the dispatcher before': { when: 'before', act: ({ dispatcher }) => { dispatcher.close().catch(() => {}) } },
  'aborts when the server has it': { when: 'request', act: ({ controller }) => { controller.abort() } },
  'aborts with a reason when the server has it': { when: 'request', act: ({ controller }) => { controller.abort(new Error('enough')) } },
  'destroys the dispatcher when the server has it': { when: 'request', act: ({ dispatcher }) => { dispatcher.destroy().catch(() => {}) } },
  'destroys the dispatcher with an error when the server has it': { when: 'request', act: ({ dispatcher }) => { dispatcher.destroy(new Error('over')).catch(() => {}) } }
}

const serve = (stage, version, face, talk) => ownServer(stage, version, server => {
  for (const event of ['upgrade', 'connect']) {
    server.on(event, (request, socket) => {
      stage.log('server')(request.method, request.headers.upgrade ?? '', event === 'connect' ? 'a host' : request.url)
      talk(socket, face)
    })
  }
  server.on('request', (request, response) => { response.end('no switch') })
})

async function run (module, stage, { face, version, kind, talk, use, when, act }) {
  for (const side of ['client', 'server']) stage.log(side)
  const log = stage.log('client')
  const under = { controller: new AbortController() }
  const origin = await serve(stage, version, face, (socket, of) => {
    if (when === 'request') act(under)
    talk(socket, of)
  })
  under.dispatcher = stage.own(MAKE[kind](module, origin, VERSIONS[version]))
  if (when === 'before') act(under)
  const options = { origin, path: face === 'upgrade' ? '/' : 'localhost:1', headers: { 'x-a': 'b' }, opaque: 'mine' }
  if (face === 'upgrade') options.protocol = 'echo'
  if (when !== undefined) options.signal = under.controller.signal
  try {
    const { headers, socket, opaque, statusCode } = await under.dispatcher[face](options)
    log('opened', face === 'connect' ? statusCode : '', headers['x-own'], opaque)
    const pieces = []
    socket.on('data', piece => { pieces.push(piece) })
    socket.on('end', () => { log('end') })
    socket.on('error', error => { log('error', known(error)) })
    const closed = closing(socket)
    use(socket)
    await closed
    const text = Buffer.concat(pieces).toString()
    log('got', text.length > 64 ? text.length : text)
  } catch (error) {
    log('failed', known(error))
  }
}

/** Acts of a handler when it gets the socket. */
const TAKES = {
  'throws': ({ mine }) => { throw mine },
  'aborts': ({ controller }) => { controller.abort() },
  'aborts with a reason': ({ controller, mine }) => { controller.abort(mine) },
  'destroys it': ({ socket }) => { socket.destroy() },
  'destroys it with an error': ({ socket, mine }) => { socket.destroy(mine) }
}

/** The calls of a handler that does not take what it gets. */
async function handle (module, stage, { face, version, kind, listens, take }) {
  for (const side of ['client', 'server', 'socket']) stage.log(side)
  const log = stage.log('client')
  const origin = await serve(stage, version, face, open)
  const dispatcher = stage.own(MAKE[kind](module, origin, VERSIONS[version]))
  const mine = new Error('mine')
  const options = face === 'upgrade' ? { origin, method: 'GET', path: '/', upgrade: 'echo' } : { origin, method: 'CONNECT', path: 'localhost:1' }
  let closed
  await new Promise(resolve => {
    dispatcher.dispatch(options, {
      onRequestStart () {},
      onRequestUpgrade (controller, status, headers, socket) {
        log('opened', status, headers['x-own'])
        if (listens) socket.on('error', error => { stage.log('socket')('error', error === mine, known(error)) })
        closed = closing(socket)
        // Behind the calls that the act leads to.
        setImmediate(resolve)
        take({ controller, socket, mine })
      },
      onResponseStart (_, status) { log('head', status) },
      onResponseData () {},
      onResponseEnd () { log('end') },
      onResponseError (_, error) { log('failed', error === mine, known(error)) }
    })
  })
  await closed
  stage.log('socket')('close')
}

const PIECE = Buffer.alloc(100_000)
const WRITES = { 'a text': ['hello'], 'a text in pieces': ['hel', 'lo'], 'large pieces': Array(8).fill(PIECE) }
/** Ends of a socket in the turn in which it was written to. */
const LEAVES = {
  'destroys it': socket => { socket.destroy() },
  'destroys it with an error': socket => { socket.destroy(new Error('over')) },
  'ends and destroys it': socket => { socket.end(); socket.destroy() },
  'destroys it soon': socket => { socket.destroySoon() }
}

/** Logs the bytes that a server receives of a socket that its client leaves. */
async function leave (module, stage, { face, kind, pieces, leaves }) {
  for (const side of ['client', 'server']) stage.log(side)
  let over
  const isOver = new Promise(resolve => { over = resolve })
  const origin = await serve(stage, 'h1', face, (socket, of) => {
    let length = 0
    socket.on('data', piece => { length += piece.length })
    socket.on('end', () => { socket.end() })
    socket.on('error', () => {})
    socket.on('close', () => {
      stage.log('server')('got', length)
      over()
    })
    open(socket, of)
  })
  const dispatcher = stage.own(MAKE[kind](module, origin))
  const { socket } = await dispatcher[face]({ origin, path: face === 'upgrade' ? '/' : 'localhost:1', protocol: 'echo' })
  socket.on('error', error => { stage.log('client')('error', known(error)) })
  socket.on('close', hadError => { stage.log('client')('close', hadError) })
  for (const piece of pieces) socket.write(piece)
  leaves(socket)
  await Promise.all([closing(socket), isOver])
}

/** Logs what a server that has ended its side receives of a client that has not read that end. */
async function writeBehindEnd (module, stage, { face, version, kind, pieces }) {
  for (const side of ['client', 'server']) stage.log(side)
  const log = stage.log('client')
  let over
  const isOver = new Promise(resolve => { over = resolve })
  const origin = await serve(stage, version, face, (socket, of) => {
    let length = 0
    socket.on('data', piece => { length += piece.length })
    socket.on('end', () => {
      stage.log('server')('end', length)
      over()
    })
    socket.on('error', () => {})
    socket.end(`${HEADS[of]}bye`)
  })
  const dispatcher = stage.own(MAKE[kind](module, origin, VERSIONS[version]))
  const { socket } = await dispatcher[face]({ origin, path: face === 'upgrade' ? '/' : 'localhost:1', protocol: 'echo' })
  for (const event of ['finish', 'end', 'error']) socket.on(event, () => { log(event) })
  const closed = closing(socket)
  for (const piece of pieces) {
    // Turns in which the end comes.
    for (let turn = 0; turn < 20; turn++) await new Promise(resolve => { setImmediate(resolve) })
    socket.write(piece)
  }
  socket.end()
  await isOver
  socket.resume()
  await closed
  log(socket.bytesWritten > 0, socket.bytesRead > 0)
}

const programs = {}
for (const face of Object.keys(HEADS)) {
  for (const version of Object.keys(VERSIONS)) {
    for (const kind of Object.keys(MAKE)) {
      const name = `${face}, ${version}, ${kind}`
      const base = { face, version, kind }
      const add = (label, cell) => { programs[`${name}: ${label}`] = (module, stage) => run(module, stage, { ...base, ...cell }) }
      const ends = CLIENTS['writes and ends']
      for (const [written, pieces] of Object.entries(WRITES)) {
        // Under TLS what leaves of undici's socket is a matter of the moment.
        if (version === 'h1') for (const [way, leaves] of Object.entries(LEAVES)) programs[`${name}: writes ${written} and ${way}`] = (module, stage) => leave(module, stage, { face, kind, pieces, leaves })
      }
      for (const [written, pieces] of Object.entries(WRITES)) programs[`${name}: writes ${written} behind the end of the server`] = (module, stage) => writeBehindEnd(module, stage, { ...base, pieces })
      for (const [use, uses] of Object.entries(CLIENTS)) add(`an echo, ${use}`, { talk: echo, use: uses })
      // Whether bytes arrive that cross the end of the other side is chance.
      for (const server of Object.keys(SERVERS).filter(one => !['an echo', 'no head', 'an end at once'].includes(one))) add(server, { talk: SERVERS[server], use: ends })
      add('an end at once', { talk: SERVERS['an end at once'], use: socket => { socket.end() } })
      for (const [label, cell] of Object.entries(ACTS)) add(label, { ...cell, talk: SERVERS['no head'], use: ends })
      for (const [label, take] of Object.entries(TAKES)) {
        for (const listens of [true, false]) {
          // undici leaves an error that is the user's own uncaught.
          if (label === 'destroys it with an error' && !listens) continue
          programs[`${name}: a handler ${label}${listens ? ', with a listener of errors' : ''}`] = (module, stage) => handle(module, stage, { ...base, listens, take })
        }
      }
    }
  }
}

export default programs

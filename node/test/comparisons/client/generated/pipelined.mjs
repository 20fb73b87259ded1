// Requests on one connection, pipelined x the way in which that connection ends x how much of them is answered by then: what becomes
// of each, and what of them each connection carries.

const PIPELINING = 4
const asks = (method, more) => ({ method, blocking: false, ...more })
const GET = asks('GET')
/** Requests in the order in which they are sent; those in front of the first that waits go at once. */
const REQUESTS = {
  'a GET': { all: [GET], atOnce: 1 },
  '4 GETs': { all: [GET, GET, GET, GET], atOnce: 4 },
  '6 GETs': { all: [GET, GET, GET, GET, GET, GET], atOnce: 4 },
  'a GET and a HEAD': { all: [GET, asks('HEAD')], atOnce: 2 },
  '2 GETs that block': { all: [asks('GET', { blocking: true }), GET], atOnce: 1 },
  'a GET and one with a text': { all: [GET, asks('GET', { body: 'a text' })], atOnce: 2 },
  'a GET that is not to be repeated': { all: [GET, asks('GET', { idempotent: false }), GET], atOnce: 1 },
  'a GET with a source': { all: [GET, { ...GET, body: 'a source' }, GET], atOnce: 1 },
  'an upgrade': { all: [GET, asks('GET', { upgrade: 'own' })], atOnce: 1 },
  'an upgrade between GETs': { all: [GET, asks('GET', { upgrade: 'taken' }), GET], atOnce: 1 },
  'a POST in front': { all: [asks('POST', { body: 'a text', blocking: true }), GET, GET], atOnce: 1 }
}
for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']) {
  const body = method === 'OPTIONS' || method === 'TRACE' ? {} : { body: 'a text' }
  REQUESTS[`a ${method} between GETs`] = { all: [GET, method === 'QUERY' ? asks(method, body) : { method, ...body }, GET], atOnce: method === 'QUERY' ? 3 : 1 }
  REQUESTS[`a ${method} that may be repeated`] = { all: [GET, asks(method, { ...body, idempotent: true })], atOnce: 2 }
}
const whole = ({ method, upgrade }) => upgrade === 'taken' ? 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: taken\r\n\r\n' : `HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n${method === 'HEAD' ? '' : 'ok'}`
/** The part of the answer to the first request that is not answered when the connection ends. */
const PARTS = {
  'nothing of the next': '',
  'an interim head': 'HTTP/1.1 103 Early Hints\r\n\r\n',
  'a half head': 'HTTP/1.1 200 OK\r\ncontent-le',
  'a half body': 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart',
  'half a chunk': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel',
  'no HTTP': 'ICY 200 OK\r\n\r\n'
}
const ENDS = {
  'end': socket => { socket.end() },
  'destroy': socket => { socket.destroy() },
  'reset': socket => { socket.resetAndDestroy() }
}
/** The words of parsers are their own. */
const known = error => error?.name === 'HTTPParserError' ? error.name : [error?.name, error?.code ?? 'without a code', error?.message].join(' ')

/** Calls `take(request)` for each request that comes on a socket: bodies have a length or are one piece in chunks. */
function listen (socket, take) {
  let text = ''
  socket.on('error', () => {}).on('data', piece => {
    text += piece.toString('latin1')
    for (;;) {
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = text.slice(0, end)
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      const last = /transfer-encoding: chunked/i.test(head) ? text.indexOf('0\r\n\r\n', end) + 5 : end + 4 + length
      if (last === 4 || text.length < last) return
      text = text.slice(last)
      const [method, path] = head.split(' ')
      take({ method, path, upgrade: /^upgrade: (.*)/im.exec(head)?.[1] })
    }
  })
}

const sourceOf = options => options.body === 'a source' ? { ...options, body: (async function * () { yield 'a source' })() } : options

function program ({ all, atOnce }, { answered, part = '', end, deaths = 1, act }) {
  return async (module, stage) => {
    const controllers = all.map(() => new AbortController())
    let connections = 0
    for (let index = 0; index <= all.length; index++) stage.log(`connection ${index}`)
    for (const index of all.keys()) stage.log(`request ${index}`)
    const server = await stage.serveRaw(socket => {
      const number = connections++
      let count = 0
      const waiting = []
      listen(socket, request => {
        stage.log(`connection ${number}`)(request.method, request.path)
        count++
        if (number >= deaths) return socket.write(whole(request))
        waiting.push(request)
        // Those of the first connection are there together; of others each is all that is sure.
        if (count < (number === 0 ? atOnce : 1)) return
        if (act !== undefined) return act({ controllers })
        const text = waiting.slice(0, answered).map(whole).join('') + part
        if (text === '') end(socket)
        else socket.write(text, () => { end(socket) })
      })
    })
    const dispatcher = stage.own(new module.Client(server.url, { pipelining: PIPELINING }))
    const isOver = new Promise(resolve => { dispatcher.once('disconnect', resolve) })
    await Promise.all(all.map(async (options, index) => {
      const log = stage.log(`request ${index}`)
      try {
        const { upgrade, ...rest } = sourceOf(options)
        const given = { ...rest, path: `/${index}`, signal: controllers[index].signal }
        if (upgrade !== undefined) {
          const { socket } = await dispatcher.upgrade({ ...given, protocol: upgrade })
          socket.on('error', () => {}).destroy()
          return log('opened')
        }
        const { statusCode, body } = await dispatcher.request(given)
        log(statusCode)
        log(await body.text())
      } catch (error) {
        log('failed', known(error))
      }
    }))
    await isOver
  }
}

/** Acts of the client when its requests are there and none is answered. */
const ACTS = {
  'aborts the first': ({ controllers }) => { controllers[0].abort() },
  'aborts all': ({ controllers }) => { for (const one of controllers) one.abort() }
}

const programs = {}
for (const [requests, cell] of Object.entries(REQUESTS)) {
  for (const answered of [0, 1]) {
    // Whether requests that wait still go behind an answer is chance.
    if (answered >= cell.atOnce || (answered > 0 && requests === '6 GETs')) continue
    for (const [end, ends] of Object.entries(ENDS)) {
      for (const [label, part] of Object.entries(PARTS)) {
        // Whether others still go behind a head is chance.
        if (part.startsWith('HTTP/1.1 200 OK') && part.includes('\r\n\r\n') && cell.all.some(({ blocking }) => blocking !== false)) continue
        // A reset may overtake what was written before it.
        if (end === 'reset' && (answered > 0 || part !== '')) continue
        programs[`${requests}, ${answered} answered and ${label}, ${end}`] = program(cell, { answered, part, end: ends })
      }
    }
  }
  for (const deaths of [2, 6]) programs[`${requests}, ${deaths} connections end`] = program(cell, { answered: 0, end: ENDS.end, deaths })
  for (const [act, does] of Object.entries(ACTS)) programs[`${requests}: ${act}`] = program(cell, { act: does })
}
export default programs

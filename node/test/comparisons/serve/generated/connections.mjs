// Requests that come behind one another on a connection, and clients that end their side behind them.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const BIG = 'x'.repeat(3 << 20)
let folder
const paths = new Map()
/** A file of this text, which is written once: a file that is written again is empty for a moment. */
function fileOf (name, text) {
  folder ??= mkdtempSync(join(tmpdir(), 'trunkline-serve-'))
  if (!paths.has(name)) writeFileSync(join(folder, name), text)
  paths.set(name, join(folder, name))
  return paths.get(name)
}

const later = () => new Promise(resolve => { setTimeout(resolve, 5) })
const stream = pieces => new ReadableStream({
  async pull (controller) {
    await later()
    const next = pieces.shift()
    if (next === undefined) controller.close()
    else controller.enqueue(new TextEncoder().encode(next))
  }
})

/** Handlers by the first segment of the path. */
const handlersOf = ({ Response, file }) => ({
  text: () => new Response('text'),
  later: async () => {
    await later()
    return new Response('later')
  },
  empty: () => new Response(null, { status: 204 }),
  stream: () => new Response(stream(['one', 'two'])),
  big: () => new Response(BIG),
  'big-later': async () => {
    await later()
    return new Response(BIG)
  },
  file: () => new Response(file(fileOf('big.txt', BIG))),
  small: () => new Response(file(fileOf('small.txt', 'small'))),
  fails: () => { throw new Error('fails') },
  rejects: async () => {
    await later()
    throw new Error('fails')
  },
  read: async request => new Response(`read ${(await request.text()).length}`),
  unread: () => new Response('unread'),
  'unread-later': async () => {
    await later()
    return new Response('unread')
  },
  'part-read': async request => {
    const reader = request.body.getReader()
    await reader.read()
    return new Response('a part')
  },
  closing: () => new Response('closing', { headers: { connection: 'close' } })
})

const get = (path, fields = '', method = 'GET') => `${method} /${path} HTTP/1.1\r\nhost: localhost\r\n${fields}\r\n`
const post = (path, body, fields = '') => `${get(path, `content-length: ${body.length}\r\n${fields}`, 'POST')}${body}`
const CHUNKS = '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'

/** Requests: their bytes, and their methods where that is HEAD. */
const REQUESTS = {
  text: get('text'),
  later: get('later'),
  empty: get('empty'),
  stream: get('stream'),
  big: get('big'),
  'big, later': get('big-later'),
  'a file': get('file'),
  'a small file': get('small'),
  'a failure': get('fails'),
  'a rejection': get('rejects'),
  'HEAD of a text': get('text', '', 'HEAD'),
  'HEAD of a file': get('file', '', 'HEAD'),
  'HEAD of a stream': get('stream', '', 'HEAD'),
  'a body that is read': post('read', 'hello'),
  'an empty body that is read': post('read', ''),
  'a body in chunks that is read': get('read', 'transfer-encoding: chunked\r\n', 'POST') + CHUNKS,
  'a body that is not read': post('unread', 'hello'),
  'a body that is not read, later': post('unread-later', 'hello'),
  'a body in chunks that is not read': get('unread', 'transfer-encoding: chunked\r\n', 'POST') + CHUNKS,
  'a long body that is read': post('read', 'x'.repeat(300_000)),
  'a long body that is not read': post('unread', 'x'.repeat(300_000)),
  'a long body of which a part is read': post('part-read', 'x'.repeat(300_000)),
  'a route': get('fixed'),
  'a line in front': `\r\n${get('text')}`,
  'the end of the connection': get('text', 'connection: close\r\n'),
  'the end of the connection, later': get('later', 'connection: close\r\n'),
  'an answer that ends the connection': get('closing'),
  'HTTP/1.0': 'GET /text HTTP/1.0\r\nhost: localhost\r\n\r\n',
  'HTTP/1.0 that stays': 'GET /text HTTP/1.0\r\nhost: localhost\r\nconnection: keep-alive\r\n\r\n'
}
const SECOND = ['text', 'later', 'HEAD of a text', 'a body that is read', 'big', 'a file', 'the end of the connection, later']

function served (module, stage) {
  const log = stage.log('server')
  const handlers = handlersOf(module)
  return stage.serve(module, {
    routes: { '/fixed': new module.Response('fixed') },
    fetch (request) {
      const { pathname } = new URL(request.url)
      log(request.method, pathname)
      return handlers[pathname.slice(1)](request)
    }
  })
}

/** Sends requests, and says each response until the server ends. */
async function play (module, stage, names, how) {
  const log = stage.log('client')
  const connection = await stage.connect(served(module, stage))
  const requests = names.map(name => REQUESTS[name])
  if (how === 'one by one') {
    for (const [at, request] of requests.entries()) {
      connection.write(request)
      log(await connection.next(names[at].startsWith('HEAD') ? 'HEAD' : 'GET'))
    }
    connection.socket.end()
  } else {
    connection.write(requests.join(''))
    if (how === 'and an end') connection.socket.end()
    for (const name of names) log(await connection.next(name.startsWith('HEAD') ? 'HEAD' : 'GET'))
  }
  connection.socket.end()
  while (!connection.isOver) await connection.more()
}

const programs = {}
for (const first of Object.keys(REQUESTS)) {
  for (const second of SECOND) {
    programs[`${first}, then ${second}, at once`] = (module, stage) => play(module, stage, [first, second], 'at once')
  }
  programs[`${first}, then text, one by one`] = (module, stage) => play(module, stage, [first, 'text'], 'one by one')
  programs[`${first}, and an end`] = (module, stage) => play(module, stage, [first], 'and an end')
  programs[`${first}, then text, and an end`] = (module, stage) => play(module, stage, [first, 'text'], 'and an end')
  programs[`later, then ${first}, at once`] = (module, stage) => play(module, stage, ['later', first], 'at once')
}
export default programs

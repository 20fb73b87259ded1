// Results of a user's connector, call by call x dispatcher x requests: which of the requests fail, with which error, and of one client how often
// the connector is called, and the events.
import net from 'node:net'
import { turns } from '../stage.mjs'

const MAKE = {
  Client: ({ Client }, origin, options) => new Client(origin, options),
  'Client, pipelining 3': ({ Client }, origin, options) => new Client(origin, { ...options, pipelining: 3 }),
  Pool: ({ Pool }, origin, options) => new Pool(origin, options),
  'Pool of 1': ({ Pool }, origin, options) => new Pool(origin, { ...options, connections: 1 }),
  'Pool of 2': ({ Pool }, origin, options) => new Pool(origin, { ...options, connections: 2 }),
  Agent: ({ Agent }, origin, options) => new Agent(options),
  'Agent of 1': ({ Agent }, origin, options) => new Agent({ ...options, connections: 1 })
}
/** An error of the connector's own, of which the number of the call is known; undici connects again behind some codes. */
const failing = (number, code) => Object.assign(new Error(`call ${number}`), { code })
const RESULTS = {
  good: ({ port }, callback) => { const socket = net.connect(port, '127.0.0.1', () => { callback(null, socket) }).on('error', () => {}) },
  'an error at once': (_, callback, number) => { callback(failing(number, 'EOWN')) },
  'an exception': (_, callback, number) => { throw failing(number, 'EOWN') },
  'an error': (_, callback, number) => { turns(3).then(() => { callback(failing(number, 'EOWN')) }) },
  'an error of a socket': (_, callback, number) => { turns(3).then(() => { callback(failing(number, 'UND_ERR_SOCKET')) }) },
  'an error for information': (_, callback, number) => { turns(3).then(() => { callback(failing(number, 'UND_ERR_INFO')) }) },
  'an abort': (_, callback, number) => { turns(3).then(() => { callback(failing(number, 'UND_ERR_ABORTED')) }) }
}
/** The last one is that of all calls behind it. */
const SEQUENCES = [
  ['good'], ['an error at once'], ['an exception'], ['an error'], ['an abort'], ['an error at once', 'good'], ['an exception', 'good'], ['an error', 'good'], ['an error of a socket', 'good'],
  ['an error for information', 'an error for information', 'good'], ['an error of a socket', 'an error'], ['an error at once', 'an error', 'good'], ['an error', 'an error at once', 'good']
]
const REQUESTS = { 'one request': [1, true], 'three at once': [3, false], 'three one by one': [3, true] }

const program = (make, sequence, [count, isOneByOne], isOne) => async (module, stage) => {
  const server = await stage.serve((request, response) => { response.end('hello') })
  const sides = Array.from({ length: count }, (_, index) => stage.log(`request ${index}`))
  // A pool makes connections that its requests do not need any more, in an order that is its own.
  const [calls, events] = isOne ? [stage.log('calls'), stage.log('events')] : [() => {}, () => {}]
  let called = 0
  const dispatcher = stage.own(make(module, server.url, { connect: (options, callback) => {
    const result = sequence[Math.min(called, sequence.length - 1)]
    calls(called, result)
    RESULTS[result](options, callback, called++)
  } }))
  for (const event of ['connect', 'disconnect', 'connectionError']) dispatcher.on(event, (_, targets, error) => { events(event, targets.length, error ?? '') })
  const asked = async log => {
    try {
      const { statusCode, body } = await dispatcher.request({ origin: server.url, path: '/', method: 'GET' })
      log(statusCode, await body.text())
    } catch (error) {
      log('failed', error)
    }
  }
  if (isOneByOne) for (const log of sides) await asked(log)
  else await Promise.all(sides.map(asked))
  await turns()
}

const programs = {}
for (const [kind, make] of Object.entries(MAKE)) {
  const isOne = kind.startsWith('Client') || kind === 'Agent of 1'
  for (const sequence of SEQUENCES) {
    if (!isOne && sequence.join() === 'an error of a socket,an error') continue
    for (const [label, requests] of Object.entries(REQUESTS)) programs[`${kind}, ${sequence.join(', then ')}: ${label}`] = program(make, sequence, requests, isOne)
  }
}

/** Acts of the other end of a socket that a connector has just given. */
const PEERS = {
  'ends at once': socket => { socket.end() },
  'is destroyed at once': socket => { socket.destroy() },
  'ends a turn later': socket => { setImmediate(() => { socket.end() }) },
  'ends behind the request': socket => { socket.once('data', () => { socket.end() }) },
  'answers at once and ends': socket => { socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na') },
  'answers the request and ends': socket => { socket.once('data', () => { socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na') }) },
  'cuts its answer': socket => { socket.once('data', () => { socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\na') }) }
}
const SOCKETS = { 'of net.connect': {}, 'of net.connect, half open': { allowHalfOpen: true } }
for (const kind of ['Client', 'Pool', 'Agent']) {
  for (const [peer, act] of Object.entries(PEERS)) {
    for (const [socketKind, options] of Object.entries(SOCKETS)) {
      for (const body of [null, 'a body']) {
        programs[`${kind}, a socket ${socketKind} whose peer ${peer}: ${body === null ? 'GET' : 'POST'}`] = async (module, stage) => {
          const { port, url } = await stage.serveRaw(act)
          const connect = (_, callback) => { const socket = net.connect({ port, host: '127.0.0.1', ...options }, () => { callback(null, socket) }) }
          const dispatcher = stage.own(MAKE[kind](module, url, { connect }))
          await stage.settle(stage.log('request'), 'answer', dispatcher.request({ origin: url, path: '/', method: body === null ? 'GET' : 'POST', body }).then(async answer => [answer.statusCode, await answer.body.text()]), value => value)
        }
      }
    }
  }
}
export default programs

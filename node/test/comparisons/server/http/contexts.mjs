// The async context in which each listener and callback of a server is called: of its request, or of the program that made the server.
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter, once } from 'node:events'
import { CLOSE, HOST, get, post, raw } from '../wire.mjs'

const UPGRADE = `GET /a HTTP/1.1\r\n${HOST}connection: upgrade\r\nupgrade: tea\r\n\r\n`
const BODY = post('/a', 'a body', CLOSE)
const GET = get('/a', CLOSE)

/** How a request gets a context. */
const WAYS = {
  'run in its listener': (store, value, call) => store.run(value, call),
  'entered in its listener': (store, value, call) => { store.enterWith(value); call() },
  'none': (store, value, call) => call()
}
/** Events whose listeners log their context. */
const EVENTS = { request: ['end', 'close', 'aborted'], response: ['finish', 'close', 'drain', 'pipe', 'unpipe'] }
const later = call => { setImmediate(call) }
const ACTS = {
  'answers': { text: GET, act: (request, response) => { response.end('ok') } },
  'answers later': { text: GET, act: (request, response) => { later(() => { response.end('ok') }) } },
  'calls back': { text: GET, act: (request, response, say) => { response.write('o', () => { say('written') }); response.end('k', () => { say('ended') }) } },
  'echoes by pipe': { text: BODY, act: (request, response) => { request.pipe(response) } },
  'reads by for await': { text: BODY, act: async (request, response, say) => { for await (const piece of request) say(piece); say('read'); response.end('ok') } },
  'waits for data': { text: BODY, act: (request, response, say) => { request.on('data', () => { say('data') }).on('end', () => { response.end('ok') }) } },
  'a client that goes': { text: get('/a'), act: () => {}, leaves: true },
  'destroys its response': { text: GET, act: (request, response) => { response.destroy() } },
  'times out': { text: GET, act: (request, response, say) => { response.setTimeout(10, () => { say('timeout'); response.end('late') }) } },
  'requests in one piece': { text: get('/a') + get('/b') + get('/c', CLOSE), act: (request, response) => { later(() => { response.end('ok') }) } },
  'requests behind each other': { text: get('/a'), act: (request, response) => { response.end('ok') }, others: [get('/b'), get('/c', CLOSE)] },
  'an upgrade': { text: UPGRADE, event: 'upgrade', act: (request, socket, say) => { socket.on('data', () => { say('data') }).on('close', () => { say('socket close') }); socket.end('HTTP/1.1 101 Switching\r\n\r\n', () => { say('written') }) } },
  'CONNECT': { text: `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`, event: 'connect', act: (request, socket, say) => { socket.on('close', () => { say('socket close') }).resume(); socket.end('HTTP/1.1 200 Established\r\n\r\n', () => { say('written') }) } },
  'an expectation': { text: `POST /a HTTP/1.1\r\n${HOST}${CLOSE}expect: 100-continue\r\ncontent-length: 0\r\n\r\n`, event: 'checkContinue', act: (request, response) => { response.writeContinue(); response.end('ok') } },
  'no HTTP': { text: 'nothing\r\n\r\n', event: 'clientError', act: (error, socket) => { void error; socket.destroy() } }
}

const contextual = ({ text, event = 'request', act, leaves = false, others = [] }, enter) => {
  let came
  const arrived = new Promise(resolve => { came = resolve })
  return async (http, t) => {
    const store = new AsyncLocalStorage()
    const found = new Set()
    const noting = name => what => { found.add(`${name}, ${what}: ${store.getStore()}`) }
    const program = raw(server => {
      server.on('connection', () => { noting('connection')('begins') })
      server.on(event, (of, response) => {
        const name = of.url ?? 'client'
        noting(`${event} ${name}`)('begins')
        enter(store, `of ${name}`, () => {
          for (const [emitter, names] of Object.entries(EVENTS)) {
            const { [emitter]: on } = { request: of, response }
            for (const name of on instanceof EventEmitter ? names : []) on.on(name, () => { noting(`${of.url} ${emitter}`)(name) })
          }
          act(of, response, noting(`${name} called`))
          setImmediate(came)
        })
      })
    }, text, {
      act: async (client, { until }) => {
        await arrived
        if (leaves) client.destroy()
        for (const text of others) {
          await until('ok')
          client.write(text)
          await Promise.race([once(client, 'data'), once(client, 'close')])
        }
      }
    })
    await store.run('of the program', () => program(http, t))
    for (const line of [...found].sort()) t.log(line.includes(', begins: ') ? 'begins' : 'later')(line)
  }
}

const programs = {}
for (const [name, act] of Object.entries(ACTS)) {
  for (const [way, enter] of Object.entries(WAYS)) programs[`${name}, a context ${way}`] = contextual(act, enter)
}
export default programs

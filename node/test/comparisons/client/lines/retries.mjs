// RetryAgent and the interceptor `retry` x the way in which a server fails its first tries x method x dispatcher: the answer, and the requests that were
// sent for it.
const BODY = 'abcdefghij'
const RETRIES = { maxRetries: 3, minTimeout: 1, maxTimeout: 5 }
/** Long enough for what is written to be read before the connection is reset. */
const RESET_MS = 20

const answer = (head, body, length = body.length) => `HTTP/1.1 ${head}\r\ncontent-length: ${length}\r\n\r\n${body}`
const write = text => socket => { socket.write(text) }
const end = text => socket => { socket.end(text) }
const reset = text => socket => { socket.write(text, () => { setTimeout(() => { socket.resetAndDestroy() }, RESET_MS) }) }
const whole = write(answer('200 OK', BODY))
const cut = reset(answer('200 OK\r\netag: "a"', BODY.slice(0, 4), BODY.length))
const rest = (etag, from, first = from) => end(answer(`206 Partial\r\n${etag}content-range: bytes ${first}-9/10`, BODY.slice(from)))
/** Tries in their order; the last one is that of all behind it. */
const TRIES = {
  '503 with retry-after': [write(answer('503 No\r\nretry-after: 0', 'no')), whole],
  429: [write(answer('429 No', '')), whole],
  'always 500': [write(answer('500 No', 'bad'))],
  'a reset, twice': [reset(''), reset(''), whole],
  'an end, twice': [end(''), end(''), whole],
  'a cut, and the rest': [cut, rest('etag: "a"\r\n', 4)],
  'a cut, and the rest of another version': [cut, rest('etag: "b"\r\n', 4)],
  'a cut, and all of it again': [cut, end(answer('200 OK\r\netag: "a"', BODY))],
  'a cut, and another range': [cut, rest('etag: "a"\r\n', 3)],
  'a cut without a version, and the rest': [end(answer('200 OK', BODY.slice(0, 4), BODY.length)), rest('', 4)],
  'cut chunks, and the rest': [end(`HTTP/1.1 200 OK\r\netag: "a"\r\ntransfer-encoding: chunked\r\n\r\n4\r\n${BODY.slice(0, 4)}\r\n`), rest('etag: "a"\r\n', 4)],
  'what is no HTTP': [end('no HTTP\r\n\r\n'), whole]
}
const KINDS = { Agent: ({ Agent }) => new Agent(), Client: ({ Client }, origin) => new Client(origin) }
const WAYS = {
  RetryAgent: ({ RetryAgent }, dispatcher) => new RetryAgent(dispatcher, RETRIES),
  'the interceptor': ({ interceptors }, dispatcher) => dispatcher.compose(interceptors.retry(RETRIES)),
  'the interceptor, POST too': ({ interceptors }, dispatcher) => dispatcher.compose(interceptors.retry({ ...RETRIES, methods: ['GET', 'POST'] }))
}
const known = error => [error.name, error.code, error.message, error.statusCode ?? ''].join(' ')

const programs = {}
for (const [way, wrap] of Object.entries(WAYS)) {
  for (const [fault, tries] of Object.entries(TRIES)) {
    for (const method of ['GET', 'POST']) {
      for (const [kind, make] of Object.entries(KINDS)) {
        programs[`${way}, ${fault}: ${method}, ${kind}`] = async (module, stage) => {
          let count = 0
          const { url: origin } = await stage.serveRaw(socket => {
            let head = ''
            socket.on('error', () => {}).on('data', piece => {
              head += piece.toString('latin1')
              if (!head.includes('\r\n\r\n')) return
              stage.log('server')(head.split(' ')[0], /\r\nrange: .*/i.exec(head)?.[0].trim() ?? '', /\r\nif-match: .*/i.exec(head)?.[0].trim() ?? '')
              head = ''
              tries[Math.min(count++, tries.length - 1)](socket)
            })
          })
          const log = stage.log('client')
          const dispatcher = stage.own(make(module, origin))
          try {
            const { statusCode, body } = await wrap(module, dispatcher).request({ origin, path: '/', method, ...method === 'POST' ? { body: 'x' } : {} })
            log(statusCode, await body.text())
          } catch (error) {
            log('failed', known(error))
          }
        }
      }
    }
  }
}
export default programs

// The properties of connection and stream errors.
const GET = { path: '/', method: 'GET' }

/** The properties of an error that a program can read. */
const printed = ({ name, code, errno, syscall, address, http2ErrorCode, message }) =>
  [name, code, errno, syscall, address, http2ErrorCode, /^(other side closed|read E\w+.*)$/.test(message) ? message : undefined].map(String).join(' ')
const failing = (make, options = {}) => async ({ Client }, t) => {
  const log = t.log('client')
  const server = await make(t)
  const { cert } = await import('../stage.mjs')
  const client = t.own(new Client(server.url, { connect: { ca: cert }, ...options }))
  for (const use of [client => client.request(GET).then(({ body }) => body.text())]) {
    await use(client).then(text => { log('answered', text) }, error => {
      log(printed(error))
      const { socket } = error
      if (socket) log('socket', socket.remoteAddress, socket.remotePort === server.port, socket.remoteFamily, typeof socket.localPort)
    })
  }
}
const reset = code => failing(t => t.serveH2((request, response) => { response.stream.close(code) }), { allowH2: true })
const resetLater = code => failing(t => t.serveH2((request, response) => { response.write('begin'); setTimeout(() => { response.stream.close(code) }, 30) }), { allowH2: true })

const programs = {}
for (const code of [1, 2, 8, 11]) {
  programs[`a stream that is reset with ${code}`] = reset(code)
  programs[`a stream that is reset with ${code} behind its head`] = resetLater(code)
}

export default {
  ...programs,
  'a session that is destroyed': failing(t => t.serveH2((request, response) => { response.stream.session.destroy() }), { allowH2: true }),
  'a session that is destroyed with an error': failing(t => t.serveH2((request, response) => { response.stream.session.destroy(new Error('mine')) }), { allowH2: true }),
  'a connection that is refused': failing(async () => ({ url: 'http://127.0.0.1:1' })),
  'a name that there is not': failing(async () => ({ url: 'http://nowhere.invalid' })),
  'a connection that ends before the answer': failing(t => t.serveAnswer(socket => { socket.end() })),
  'a connection that is reset before the answer': failing(t => t.serveAnswer(socket => { socket.resetAndDestroy() })),
  'a connection that ends in the body': failing(t => t.serveAnswer(socket => { socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc') })),
  'a connection that ends in a chunked body': failing(t => t.serveAnswer(socket => { socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n') })),
  'a connection that is reset in the body': failing(t => t.serveAnswer(socket => { socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'); setTimeout(() => { socket.resetAndDestroy() }, 50) })),
  'what is no HTTP': failing(t => t.serveAnswer('hello\r\n\r\n')),
  'the headers timeout': failing(t => t.serve(() => {}), { headersTimeout: 100 }),
  'the body timeout': failing(t => t.serve((request, response) => { response.write('begin') }), { bodyTimeout: 100 }),
  'the names of the classes': async ({ errors }, t) => {
    const log = t.log('client')
    for (const name of ['ConnectTimeoutError', 'HeadersTimeoutError', 'BodyTimeoutError', 'InvalidArgumentError', 'SocketError', 'ClientDestroyedError', 'RequestAbortedError', 'InformationalError']) {
      const error = new errors[name]()
      log(name, error.constructor.name, error.name, error.code, error.message, error instanceof errors.UndiciError)
    }
  }
}

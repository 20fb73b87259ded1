// Requests of node:http without a body whose server has the option `optimizeEmptyRequests`.
import { closingSocket } from '../stage.mjs'
import { CLOSE, HOST, post, get } from '../wire.mjs'

const TEXTS = {
  'a GET': get('/', CLOSE),
  'two GETs': get('/') + get('/', CLOSE),
  'a POST': post('/', 'abc', CLOSE),
  'a POST of no length': `POST / HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  'a length of 0': post('/', '', CLOSE),
  'chunks': `POST / HTTP/1.1\r\n${HOST}${CLOSE}transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`
}
const members = ({ complete, destroyed, readable, readableEnded, closed, aborted, readableLength }) => ({ complete, destroyed, readable, readableEnded, closed, aborted, readableLength })

const program = (optimizeEmptyRequests, text, answersLate) => async (http, t) => {
  const log = t.log('server')
  const server = http.createServer({ optimizeEmptyRequests }, (request, response) => {
    const other = t.log('response')
    log(request.method, members(request))
    for (const event of ['data', 'end', 'close', 'error', 'aborted']) request.on(event, () => { log(event) })
    response.on('close', () => { setImmediate(() => { other('close', members(request)) }) })
    if (answersLate) setTimeout(() => { response.end('late') }, 20)
    else response.end('ok')
  })
  const port = await t.listen(server)
  const socket = await t.dial(port)
  socket.resume().write(text)
  await closingSocket(socket)
  await new Promise(resolve => { setTimeout(resolve, 20) })
}

const programs = {}
for (const [label, text] of Object.entries(TEXTS)) {
  for (const optimizes of [true, false]) {
    for (const answersLate of [true, false]) programs[`${label}, ${optimizes}, ${answersLate ? 'answered later' : 'answered at once'}`] = program(optimizes, text, answersLate)
  }
}
export default programs

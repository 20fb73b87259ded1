// Answers that are cut: framing x moment x `connection` of the request and of the answer x call: what comes of it, and the error.
import { Writable } from 'node:stream'
import { known } from '../line_calls.mjs'

const LINE = 'HTTP/1.1 200 OK\r\n'
/** The fields of a framing, and the bytes behind the head at each moment. */
const FRAMINGS = {
  'a length': ['content-length: 10\r\n', { 'behind the head': '', 'in the body': 'hello', 'in front of the last byte': 'helloworl' }],
  'chunks': ['transfer-encoding: chunked\r\n', {
    'behind the head': '', 'in a size': '5', 'behind a size': '5\r\n', 'in a chunk': '5\r\nhel', 'behind the bytes of a chunk': '5\r\nhello', 'behind a chunk': '5\r\nhello\r\n',
    'behind the last size': '5\r\nhello\r\n0\r\n', 'in a trailer': '5\r\nhello\r\n0\r\nx-a: b', 'behind a trailer': '5\r\nhello\r\n0\r\nx-a: b\r\n'
  }],
  'until the end': ['', { 'behind the head': '', 'in the body': 'hello' }]
}
const HEADS = { 'nothing': '', 'half a line': 'HTTP/1.1 2', 'a line': LINE, 'half a field': `${LINE}content-le`, 'a field': `${LINE}content-length: 5\r\n`, 'an interim head': 'HTTP/1.1 103 Early Hints\r\n\r\n', 'an interim head and half a line': 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1' }

/** Bytes of an answer by what they are, for a field `connection`. */
function answers (connection) {
  const field = connection === '' ? '' : `connection: ${connection}\r\n`
  const all = connection === '' ? Object.entries(HEADS) : []
  for (const [framing, [fields, moments]] of Object.entries(FRAMINGS)) {
    for (const [moment, bytes] of Object.entries(moments)) all.push([`${framing}, ${moment}`, `${LINE}${field}${fields}\r\n${bytes}`])
  }
  return all
}
const CALLS = {
  async request (module, t, log, client, options) {
    const { statusCode, body } = await client.request(options)
    log('head', statusCode)
    body.on('error', error => { log('body error', known(error)) }).on('end', () => { log('body end') }).on('close', () => { log('body close') }).on('data', chunk => { log('body data', String(chunk)) })
    await new Promise(resolve => { body.once('close', resolve) })
  },
  async text (module, t, log, client, options) {
    const { statusCode, body } = await client.request(options)
    log('head', statusCode)
    log('text', await body.text())
  },
  async stream (module, t, log, client, options) {
    const sink = new Writable({ write (chunk, _, done) { log('sink', String(chunk)); done() } })
    for (const event of ['error', 'finish', 'close']) sink.on(event, error => { log('sink', event, error === undefined ? '' : known(error)) })
    const { trailers } = await client.stream(options, ({ statusCode }) => { log('head', statusCode); return sink })
    log('over', JSON.stringify(trailers))
  },
  async pipeline (module, t, log, client, options) {
    const duplex = client.pipeline(options, ({ statusCode, body }) => { log('head', statusCode); return body })
    duplex.on('error', error => { log('error', known(error)) }).on('end', () => { log('end') }).on('data', chunk => { log('data', String(chunk)) }).end()
    await new Promise(resolve => { duplex.once('close', resolve) })
  },
  async fetch (module, t, log, client, options, url) {
    const response = await module.fetch(url, { dispatcher: client })
    log('head', response.status)
    log('text', await response.text())
  }
}

const programs = {}
for (const [call, asks] of Object.entries(CALLS)) {
  for (const reset of [false, true]) {
    if (reset && call === 'fetch') continue
    for (const connection of ['', 'close', 'keep-alive']) {
      for (const [answer, text] of answers(connection)) {
        programs[`${call}${reset ? ', the last of its connection' : ''}: ${connection === '' ? '' : `${connection}, `}${answer}`] = async (module, t) => {
          const log = t.log('client')
          const server = await t.serveRaw(socket => { socket.once('data', () => { socket.end(text) }) })
          const client = t.own(new module.Client(server.url))
          client.on('disconnect', (origin, targets, error) => { t.log('events')('disconnect', known(error)) })
          try {
            await asks(module, t, log, client, { path: '/', method: 'GET', ...(reset ? { reset: true } : {}) }, server.url)
          } catch (error) {
            log('failed', known(error))
            if (call === 'fetch') log('cause', known(error.cause))
          }
        }
      }
    }
  }
}
export default programs

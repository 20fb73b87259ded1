// Libraries that end servers by the sockets that were reported to them, and supertest, which starts and ends one for each request.
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { createSecureServer, createServer } from 'trunkline'
import { createHttpTerminator } from 'http-terminator'
import stoppable from 'stoppable'
import supertest from 'supertest'

const { cert, key } = await import(process.env.CERTIFICATE_MODULE)
const SLOW_MS = 300
const GRACE_MS = 2000

const later = work => { setTimeout(work, SLOW_MS) }

function listener (request, response) {
  if (request.url === '/slow') return later(() => { response.end('slow') })
  if (request.url === '/parts') {
    response.write('one ')
    return later(() => { response.end('two') })
  }
  if (request.method === 'POST') return void request.pipe(response)
  response.end(`${request.method} ${request.url}`)
}

function made (side, isSecure, given = listener) {
  if (side === 'own') return isSecure ? https.createServer({ cert, key }, given) : http.createServer(given)
  return isSecure ? createSecureServer({ cert, key, allowHTTP1: true, requests: 'http' }, given) : createServer({ requests: 'http' }, given)
}

/** The answer to one request, or how it fails. */
async function asked (port, isSecure, path, agent = false) {
  const request = (isSecure ? https : http).get({ port, host: 'localhost', path, agent, ca: cert })
  try {
    const [response] = await once(request, 'response')
    return `${response.statusCode} ${Buffer.concat(await response.toArray())}`
  } catch (error) {
    return error.code
  }
}

async function ended (side, isSecure, ending) {
  const server = made(side, isSecure)
  const end = ending(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  const agent = new (isSecure ? https : http).Agent({ keepAlive: true })
  const first = await asked(port, isSecure, '/', agent)
  const options = { port, host: 'localhost', ca: cert }
  const silent = isSecure ? tls.connect(options) : net.connect(port, '127.0.0.1')
  silent.on('error', () => {}).resume()
  const gone = once(silent, 'close')
  const reported = isSecure ? 'secureConnection' : 'connection'
  await once(server, reported)
  let started = 0
  const begun = new Promise(resolve => { server.on('request', () => { if (++started === 2) resolve() }) })
  const open = [asked(port, isSecure, '/slow'), asked(port, isSecure, '/parts')]
  await begun
  const over = once(server, 'close')
  await end()
  await over
  const answers = await Promise.all(open)
  await gone
  agent.destroy()
  return { first, answers, isListening: server.listening, after: await asked(port, isSecure, '/') }
}

const ENDINGS = {
  'http-terminator': server => {
    const terminator = createHttpTerminator({ server, gracefulTerminationTimeout: GRACE_MS })
    return () => terminator.terminate()
  },
  stoppable: server => {
    const { stop } = stoppable(server, GRACE_MS)
    return () => new Promise(resolve => { stop.call(server, resolve) })
  },
  closeAllConnections: server => () => new Promise(resolve => {
    server.close(resolve)
    setTimeout(() => { server.closeAllConnections() }, GRACE_MS)
  })
}

async function tested (side) {
  const of = ({ status, type, text }) => ({ status, type, text })
  const server = made(side, false)
  const answers = []
  for (let count = 0; count < 10; count++) answers.push(of(await supertest(server).get(`/${count}`).expect(200)))
  answers.push(of(await supertest(server).post('/').send({ a: 1 })), of(await supertest(server).post('/').attach('file', Buffer.from('text'), 'a.txt').buffer().then(response => ({ ...of(response), text: String(response.text ?? '').replaceAll(/-{4,}\w+/g, 'BOUNDARY'), type: '' }))))
  answers.push(...(await Promise.all(Array.from({ length: 10 }, (_, at) => supertest(server).get(`/at-once/${at}`)))).map(of))
  const failed = await supertest(server).get('/').expect(404).then(() => 'passed', error => error.message)
  return { answers, failed }
}

export function cases (side) {
  const all = { supertest: () => tested(side) }
  for (const [at, isSecure] of [['in cleartext', false], ['under TLS', true]]) {
    for (const [name, ending] of Object.entries(ENDINGS)) all[`${name} ${at}`] = () => ended(side, isSecure, ending)
  }
  return all
}

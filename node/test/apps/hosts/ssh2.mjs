// ssh2: channels of an SSH connection that carry HTTP/1.1, between a client and a server that have no other stream.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import { Agent, createServer, request } from 'trunkline'
import ssh2 from 'ssh2'

const LARGE_BYTES = 4 << 20
const digest = bytes => createHash('sha256').update(bytes).digest('hex')

/** Answers with a digest of what came, or as many bytes as were asked for. */
function listener (request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://ssh')
  if (pathname === '/bytes') return void response.end(Buffer.alloc(Number(searchParams.get('count')), 'x'))
  if (pathname === '/cut') {
    response.writeHead(200, { 'content-length': 100 })
    response.write('half')
    return void setImmediate(() => { response.destroy() })
  }
  const hash = createHash('sha256')
  request.on('data', chunk => { hash.update(chunk) })
  request.on('end', () => { response.end(`${request.method} ${hash.digest('hex')}`) })
}

/** An SSH connection whose channels are the server's connections. */
async function connected (side) {
  const server = side === 'own' ? http.createServer(listener) : createServer({ requests: 'http' }, listener)
  const { private: hostKey } = ssh2.utils.generateKeyPairSync('ed25519')
  const sshd = new ssh2.Server({ hostKeys: [hostKey] }, connection => {
    connection.on('authentication', context => { context.accept() })
    connection.on('tcpip', accept => { server.emit('connection', accept()) })
    connection.on('error', () => {})
  })
  sshd.listen(0, '127.0.0.1')
  await once(sshd, 'listening')
  const ssh = new ssh2.Client().connect({ host: '127.0.0.1', port: sshd.address().port, username: 'user', password: 'any' })
  await once(ssh, 'ready')
  return { ssh, end: () => { ssh.end(); sshd.close() } }
}

/** A function that sends one request and gives its answer, over channels of the connection. */
function clientOf (side, ssh) {
  const channel = done => { ssh.forwardOut('127.0.0.1', 0, 'internal', 80, done) }
  if (side !== 'own') {
    const dispatcher = new Agent({ connect: (options, done) => { channel(done) } })
    return {
      ask: async (path, { method = 'GET', body } = {}) => {
        const answer = await request(`http://internal${path}`, { dispatcher, method, body })
        return { status: answer.statusCode, body: Buffer.from(await answer.body.arrayBuffer()) }
      },
      close: () => dispatcher.close()
    }
  }
  return {
    ask: async (path, { method = 'GET', body } = {}) => {
      const stream = await new Promise((resolve, reject) => { channel((error, stream) => { error ? reject(error) : resolve(stream) }) })
      const request = http.request({ host: 'internal', path, method, createConnection: () => stream })
      request.end(body)
      const [answer] = await once(request, 'response')
      return { status: answer.statusCode, body: Buffer.concat(await answer.toArray()) }
    },
    close: () => {}
  }
}

export function cases (side) {
  const over = work => async () => {
    const { ssh, end } = await connected(side)
    const client = clientOf(side, ssh)
    try {
      return await work(client.ask)
    } finally {
      await client.close()
      end()
    }
  }
  const text = ({ status, body }) => [status, body.toString()]
  return {
    GET: over(async ask => text(await ask('/'))),
    'a body of 4 MiB each way': over(async ask => {
      const sent = Buffer.alloc(LARGE_BYTES, 'y')
      const up = text(await ask('/', { method: 'POST', body: sent }))
      const down = await ask(`/bytes?count=${LARGE_BYTES}`)
      return [up, digest(sent) === up[1].split(' ')[1], down.status, down.body.length]
    }),
    '20 at once': over(async ask => (await Promise.all(Array.from({ length: 20 }, (_, at) => ask(`/bytes?count=${at * 1000}`)))).map(({ status, body }) => [status, body.length])),
    '20 one after the other': over(async ask => {
      const statuses = []
      for (let at = 0; at < 20; at++) statuses.push((await ask('/')).status)
      return statuses
    }),
    'an answer that is cut': over(async ask => await ask('/cut').then(() => 'whole', () => 'failed')),
    'an SSH connection that ends': async () => {
      const { ssh, end } = await connected(side)
      const client = clientOf(side, ssh)
      const first = text(await client.ask('/'))
      end()
      await once(ssh, 'close')
      return [first, await client.ask('/').then(() => 'answered', () => 'failed')]
    }
  }
}

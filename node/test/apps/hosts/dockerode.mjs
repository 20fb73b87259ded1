// dockerode, as testcontainers uses it, against a Docker daemon of a few lines on a Unix socket.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { createServer } from 'trunkline'
import Docker from 'dockerode'

/** A frame of Docker's attach protocol. */
function frame (stream, text) {
  const head = Buffer.alloc(8)
  head[0] = stream
  head.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([head, Buffer.from(text)])
}

const json = (response, status, value) => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

async function listener (request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://docker')
  const route = `${request.method} ${pathname.replace(/^\/v[\d.]+/, '')}`
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  if (route === 'GET /_ping') return response.end('OK')
  if (route === 'GET /containers/json') return json(response, 200, [{ Id: 'c1', Names: ['/one'], filters: searchParams.get('filters') }])
  if (route === 'POST /containers/create') return json(response, 201, { Id: 'c2', Warnings: [], asked: JSON.parse(body) })
  if (route === 'POST /containers/c2/start' || route === 'POST /containers/c2/stop') return response.writeHead(204).end()
  if (route === 'GET /containers/none/json') return json(response, 404, { message: 'No such container: none' })
  if (route === 'POST /build') {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(`${JSON.stringify({ stream: `sha256 ${createHash('sha256').update(body).digest('hex')} ${body.length}` })}\r\n`)
    return void setImmediate(() => { response.end(`${JSON.stringify({ aux: { ID: 'built' } })}\r\n`) })
  }
  if (route === 'GET /containers/c1/logs') {
    response.writeHead(200, { 'content-type': 'application/vnd.docker.multiplexed-stream' })
    for (let line = 0; line < 1000; line++) response.write(frame(1 + line % 2, `line ${line}\n`))
    return void response.end()
  }
  if (route === 'POST /containers/c1/exec') return json(response, 201, { Id: 'e1' })
  json(response, 501, { message: route })
}

/** Attached terminals: what comes behind the request's body goes back, in capitals. */
function upgrade (request, socket, head) {
  socket.write('HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n')
  // Node gives the body as the first bytes of the socket, or as the head of it.
  let left = Number(request.headers['content-length'] ?? 0)
  const receive = chunk => {
    const behind = chunk.subarray(Math.min(left, chunk.length))
    left -= chunk.length - behind.length
    if (behind.length > 0) socket.write(String(behind).toUpperCase())
  }
  receive(head)
  socket.on('data', receive)
  socket.on('end', () => { socket.end() })
}

export async function cases (side) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-docker-'))
  const socketPath = join(folder, 'docker.sock')
  const server = side === 'own' ? http.createServer(listener) : createServer({ requests: 'http' }, listener)
  server.on('upgrade', upgrade)
  server.listen(socketPath)
  await once(server, 'listening')
  process.on('exit', () => { rmSync(folder, { recursive: true, force: true }) })
  const docker = new Docker({ socketPath })
  return {
    ping: async () => String(await docker.ping()),
    'containers are listed': () => docker.listContainers({ filters: { label: ['org.testcontainers=true'] } }),
    'a container is created, started and stopped': async () => {
      const container = await docker.createContainer({ Image: 'alpine', Cmd: ['true'] })
      return [container.id, String(await container.start()), String(await container.stop())]
    },
    'what there is not': () => docker.getContainer('none').inspect().then(() => 'found', ({ statusCode, json }) => [statusCode, json]),
    'an image is built from a stream of 3 MB': async () => {
      const stream = await docker.buildImage(Readable.from(Array.from({ length: 30 }, () => Buffer.alloc(100_000, 'z'))), { t: 'x' })
      return await new Promise((resolve, reject) => { docker.modem.followProgress(stream, (error, output) => { error ? reject(error) : resolve(output) }) })
    },
    'logs of two streams': async () => {
      const stream = await docker.getContainer('c1').logs({ stdout: true, stderr: true, follow: true })
      const [out, err] = [new PassThrough(), new PassThrough()]
      const texts = [out.toArray(), err.toArray()]
      docker.modem.demuxStream(stream, out, err)
      await once(stream, 'end')
      out.end()
      err.end()
      return (await Promise.all(texts)).map(chunks => Buffer.concat(chunks).toString().length)
    },
    'an attached terminal': async () => {
      const stream = await docker.getContainer('c1').attach({ stream: true, stdin: true, stdout: true, hijack: true })
      stream.write('typed')
      const [echoed] = await once(stream, 'data')
      const closed = once(stream, 'end')
      stream.end()
      await closed
      return String(echoed)
    },
    '50 at once': async () => (await Promise.all(Array.from({ length: 50 }, () => docker.listContainers()))).length
  }
}

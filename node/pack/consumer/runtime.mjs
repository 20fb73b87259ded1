// Uses the installed package in any runtime of JavaScript. Without an argument it prints the names of its parts; with one it
// runs that part, prints ok, and has to end by itself.
import { once } from 'node:events'
import { createServer as createPlain } from 'node:http'
import { Readable } from 'node:stream'
import { Worker, isMainThread, parentPort } from 'node:worker_threads'
import * as trunkline from 'trunkline'
import { connect } from 'trunkline/http2'

const { Agent, createServer, file, installGlobal, request, serve } = trunkline
const local = { port: 0, hostname: '127.0.0.1' }

function equal (got, expected) {
  if (got !== expected) throw new Error(`${got} came where ${expected} was expected`)
}

/** The address of a server of node's form, once it listens. */
async function listening (server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${server.address().port}/`
}

/** 500 requests with bodies of their own over one version of HTTP. */
async function many (options, version) {
  const server = serve({ ...local, tls: 'self-signed', http3: true, fetch: async (received, info) => new Response(`${info.protocol} ${await received.text()}`) })
  const dispatcher = new Agent({ ...options, connect: { rejectUnauthorized: false } })
  await Promise.all(Array.from({ length: 500 }, async (_, index) => {
    const { body } = await request(server.url, { dispatcher, method: 'POST', body: `${index}` })
    equal(await body.text(), `${version} ${index}`)
  }))
  await dispatcher.close()
  await server.stop()
}

const PARTS = {
  async 'client over HTTP/1.1' () {
    const server = createPlain((received, response) => { received.pipe(response) })
    const url = await listening(server)
    const dispatcher = new Agent()
    const { body } = await request(url, { method: 'POST', body: 'hello', dispatcher })
    equal(await body.text(), 'hello')
    await dispatcher.close()
    server.close()
  },
  'client and serve over HTTP/2': () => many({}, 'h2'),
  'client and serve over HTTP/3': () => many({ http3: 'only' }, 'h3'),
  async 'the global fetch after installGlobal' () {
    const server = serve({ ...local, fetch: async received => new Response((await received.formData()).get('field')) })
    const uninstall = installGlobal(new Agent())
    const form = new FormData()
    form.set('field', 'value')
    equal(await (await fetch(server.url, { method: 'POST', body: form })).text(), 'value')
    uninstall()
    await server.stop()
  },
  async 'streams of 16 MiB in both directions' () {
    const server = serve({ ...local, tls: 'self-signed', fetch: received => new trunkline.Response(received.body) })
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
    const sent = Buffer.alloc(16 << 20, 7)
    const { body } = await request(server.url, { dispatcher, method: 'POST', body: Readable.from([sent.subarray(0, 1 << 20), sent.subarray(1 << 20)]) })
    if (!sent.equals(Buffer.from(await body.arrayBuffer()))) throw new Error('another body came back')
    await dispatcher.close()
    await server.stop()
  },
  async 'event streams and files' () {
    async function * events () { for (let id = 1; id <= 3; id++) yield Buffer.from(`data: ${id}\n\n`) }
    const server = serve({ ...local, routes: { '/own': () => new trunkline.Response(file(process.argv[1])) }, fetch: () => new trunkline.Response(events()) })
    equal(await (await trunkline.fetch(server.url)).text(), 'data: 1\n\ndata: 2\n\ndata: 3\n\n')
    const own = await (await trunkline.fetch(new URL('/own', server.url))).text()
    equal(own.includes('another body came back'), true)
    await server.stop()
  },
  async 'errors and signals' () {
    equal((await request('http://127.0.0.1:9/').catch(error => error)).code, 'ECONNREFUSED')
    const controller = new AbortController()
    let seen
    const aborted = new Promise(resolve => { seen = resolve })
    const server = serve({
      ...local,
      async fetch (received) {
        received.signal.addEventListener('abort', () => seen('abort'))
        controller.abort()
        await aborted
        return new Response()
      }
    })
    const error = await trunkline.fetch(server.url, { signal: controller.signal }).catch(error => error)
    equal(error.name, 'AbortError')
    equal(await aborted, 'abort')
    await server.stop()
  },
  async 'the API of node:http2, server and client' () {
    const server = createServer((received, response) => { received.pipe(response) })
    const session = connect(await listening(server))
    const stream = session.request({ ':method': 'POST', ':path': '/' })
    stream.end('hello')
    let text = ''
    for await (const piece of stream) text += piece
    equal(text, 'hello')
    session.close()
    server.close()
  },
  async "node:http's requests and responses" () {
    const server = createServer({ requests: 'http' }, (received, response) => { response.end(received.url) })
    const { body } = await request(new URL('/path', await listening(server)))
    equal(await body.text(), '/path')
    server.close()
  },
  async 'worker threads' () {
    if (!isMainThread) {
      const server = serve({ ...local, fetch: () => new Response('from a worker') })
      parentPort.postMessage(await (await trunkline.fetch(server.url)).text())
      await server.stop()
      return
    }
    const worker = new Worker(new URL(import.meta.url), { argv: ['worker threads'] })
    const [message] = await once(worker, 'message')
    equal(message, 'from a worker')
    await worker.terminate()
  }
}

const [, , part] = process.argv
if (part === undefined) console.log(Object.keys(PARTS).join('\n'))
else {
  await PARTS[part]()
  if (isMainThread) console.log('ok')
}

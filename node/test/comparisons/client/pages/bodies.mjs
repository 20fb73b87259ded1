// The body of an answer, and errors as their classes.
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { turns } from '../stage.mjs'
import { after, get, known, onVersions, programs, textOf, VERSIONS } from '../page.mjs'

const pieces = (request, response) => { response.write('{"a":', () => { response.end('1}') }) }

export default {
  ...onVersions(VERSIONS, {
    'each mixin': async p => {
      const server = await p.serve(pieces)
      const client = p.client(server.url)
      for (const call of ['text', 'json', 'blob', 'arrayBuffer', 'bytes']) {
        const { body } = await client.request(get)
        p.log(call, body.bodyUsed, body.destroyed)
        const value = await body[call]()
        p.log(value instanceof Blob ? [value.size, value.type] : value instanceof ArrayBuffer ? value.byteLength : value instanceof Uint8Array ? [value.constructor.name, value.length] : value, body.bodyUsed, body.readableEnded)
      }
    },
    'JSON that is none': async p => {
      const server = await p.serve((request, response) => { response.end('{') })
      const { body } = await p.client(server.url).request(get)
      await body.json().catch(error => { p.log(error.name, error instanceof SyntaxError) })
    },
    'a BOM in a text': async p => {
      const server = await p.serve((request, response) => { response.end('\ufeffa') })
      const { body } = await p.client(server.url).request(get)
      p.log(JSON.stringify(await body.text()))
    },
    'the web stream of a body': async p => {
      const server = await p.serve(pieces)
      const { body } = await p.client(server.url).request(get)
      const stream = body.body
      p.log(stream.constructor.name, body.body === stream, stream.locked)
      const parts = []
      for await (const piece of stream) parts.push(Buffer.from(piece))
      p.log(Buffer.concat(parts).toString(), body.bodyUsed)
    },
    'for await, and a break': async p => {
      const server = await p.serve((request, response) => { response.end(Buffer.alloc(300_000)) })
      const client = p.client(server.url)
      const { body } = await client.request(get)
      for await (const piece of body) { p.log(piece.length > 0); break }
      p.log(body.destroyed)
      p.log((await client.request(get).then(answer => answer.body.arrayBuffer())).byteLength)
    },
    'dump: with a limit, and with a signal': async p => {
      const server = await p.serve((request, response) => { response.end(Buffer.alloc(300_000)) })
      for (const options of [undefined, { limit: 1000 }, { limit: 1_000_000 }, { signal: AbortSignal.abort() }, { signal: AbortSignal.timeout(1000) }, { signal: {} }, { limit: 'x' }, { limit: -1 }]) {
        const { body } = await p.client(server.url).request(get)
        body.on('error', () => {})
        await p.settle(options === undefined ? 'none' : Object.keys(options).join() + String(options.limit ?? ''), body.dump(options))
      }
    },
    'destroy: the events': async p => {
      const server = await p.serve((request, response) => { response.write('begin') })
      for (const reason of [undefined, new Error('own')]) {
        const { body } = await p.client(server.url).request(get)
        const events = []
        for (const event of ['end', 'error', 'close', 'aborted']) body.on(event, error => { events.push(event, error === undefined ? '' : known(error)) })
        body.destroy(reason)
        await once(body, 'close').catch(() => {})
        await turns(2)
        p.log(events, body.readableAborted, body.errored?.message)
      }
    },
    'a cut body: the events': async p => {
      const server = await p.serve((request, response) => { response.write('begin', () => { (request.stream?.session ?? request.socket).destroy() }) })
      const { body } = await p.client(server.url).request(get)
      const events = []
      body.on('data', piece => { events.push(String(piece)) }).on('end', () => { events.push('end') }).on('error', error => { events.push(error.name, error.code) })
      await new Promise(resolve => { body.on('close', resolve) })
      p.log(events)
    },
    'pipeline into a sink': async p => {
      const server = await p.serve((request, response) => { response.end(Buffer.alloc(300_000, 'a')) })
      const { body } = await p.client(server.url).request(get)
      let bytes = 0
      await pipeline(body, async function (source) { for await (const piece of source) bytes += piece.length })
      p.log(bytes)
    },
    'unpipe, and a listener of data late': async p => {
      const server = await p.serve((request, response) => { response.end('hello') })
      const { body } = await p.client(server.url).request(get)
      await after(20)
      const parts = []
      body.on('data', piece => { parts.push(String(piece)) })
      await once(body, 'end')
      p.log(parts.join(''))
    },
    'properties of a body': async p => {
      const server = await p.serve((request, response) => { response.writeHead(200, { 'content-type': 'text/x', 'content-length': 5 }); response.end('hello') })
      const { body } = await p.client(server.url).request(get)
      p.log(body instanceof Readable, body.readable, body.readableHighWaterMark, body.readableFlowing, body.readableObjectMode, body.constructor.name, Object.prototype.toString.call(body))
      const blob = await body.blob()
      p.log(blob.type, blob.size)
      p.log(body.readable, body.readableEnded, body.destroyed, body.closed)
    },
    'the end of a body in order with its promise': async p => {
      const server = await p.serve((request, response) => { response.end('hello') })
      const { body } = await p.client(server.url).request(get)
      const order = []
      body.on('end', () => { order.push('end') }).on('close', () => { order.push('close') })
      await body.text().then(() => { order.push('text') })
      await turns(3)
      p.log(order)
    },
    'a body used, then used again': async p => {
      const server = await p.serve((request, response) => { response.end('hello') })
      const { body } = await p.client(server.url).request(get)
      await body.text()
      await body.text().catch(error => { p.log(error.name) })
      p.log(await body.dump())
    },
    'formData of a body': async p => {
      const server = await p.serve((request, response) => { response.writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' }); response.end('a=b') })
      const { body } = await p.client(server.url).request(get)
      p.log(typeof body.formData)
      await body.dump()
    },
    'errors: classes and members': async (p, { errors }) => {
      const server = await p.serve((request, response) => { (request.stream?.session ?? request.socket).destroy() })
      await p.client(server.url).request(get).catch(error => {
        p.log(error.name, error instanceof errors.SocketError, error instanceof errors.UndiciError, error instanceof Error)
        p.log(error.socket === undefined ? 'no socket' : Object.keys(error.socket ?? {}).sort().join())
      })
    }
  }),
  ...programs({
    'errors: the table': async (p, { errors }) => {
      for (const [name, Class] of Object.entries(errors).sort(([a], [b]) => a < b ? -1 : 1)) {
        if (['QueueTimeoutError', 'RefusedError', 'EngineEndedError', 'TrunklineError'].includes(name)) continue
        p.attempt(name, () => new Class('words', 500, {}), error => [error.name, error.code, error.message, error instanceof errors.UndiciError, Class.name, Object.keys(error).sort().join()])
      }
    },
    'errors: default words': async (p, { errors }) => {
      for (const name of ['UndiciError', 'ConnectTimeoutError', 'HeadersTimeoutError', 'HeadersOverflowError', 'BodyTimeoutError', 'InvalidArgumentError', 'InvalidReturnValueError', 'AbortError', 'RequestAbortedError', 'InformationalError', 'RequestContentLengthMismatchError', 'ResponseContentLengthMismatchError', 'ClientDestroyedError', 'ClientClosedError', 'SocketError', 'NotSupportedError', 'BalancedPoolMissingUpstreamError', 'HTTPParserError', 'ResponseExceededMaxSizeError']) {
        const made = new errors[name]()
        p.log(name, JSON.stringify(made.message), made.name, made.code, String(made))
      }
    },
    'errors: an argument that is none': async (p, { errors, Client }) => {
      try { new Client() } catch (error) { p.log(known(error), error instanceof errors.InvalidArgumentError, error.constructor.name, Object.prototype.toString.call(error)) } // eslint-disable-line no-new
    },
    'errors: what is no HTTP': async (p, { errors }) => {
      for (const text of ['garbage\r\n\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!']) {
        const server = await p.stage.serveAnswer(text)
        await p.client(server.url).request(get).then(textOf).catch(error => { p.log(error.name, error instanceof errors.HTTPParserError, typeof error.code) })
      }
    },
    'errors: lengths': async (p, { errors }) => {
      const server = await p.stage.serveAnswer(socket => { socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello') })
      await p.client(server.url).request(get).then(textOf).catch(error => { p.log(known(error), error instanceof errors.SocketError) })
      const more = await p.stage.serveAnswer('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nhello')
      await p.settle('more', p.client(more.url).request(get).then(textOf))
    }
  })
}

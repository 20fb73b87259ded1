// A client that ends its side behind its request, as `nc -N` does: it looks like one that is gone, and may
// wait for its answer. `serve` gives it; servers of node:http2's API do what node:http does.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text as all } from 'node:stream/consumers'
import test from 'node:test'
import tls from 'node:tls'
import { createSecureServer, createServer, serve } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'

const GET = 'GET /late HTTP/1.1\r\nhost: localhost\r\n\r\n'

const kinds = [
  { name: 'h1', options: {}, make: createServer, open: port => connect({ port, host: '127.0.0.1', allowHalfOpen: true }) },
  {
    name: 'h1 over TLS',
    options: { tls: { cert, key } },
    make: listener => createSecureServer({ cert, key, allowHTTP1: true }, listener),
    // The end comes with close_notify.
    open: port => tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert, allowHalfOpen: true })
  }
]

for (const { name, options, make, open } of kinds) {
  test(`${name}: serve answers late a client that has ended its side`, async () => {
    const gate = {}
    gate.promise = new Promise(resolve => { gate.resolve = resolve })
    const server = serve({
      hostname: '127.0.0.1',
      ...options,
      async fetch (request) {
        await once(request.signal, 'abort')
        await gate.promise
        return new Response('late')
      }
    })
    try {
      const socket = open(server.port)
      const printed = all(socket)
      socket.end(GET)
      // The handler is notified of the end, and still answers.
      setImmediate(gate.resolve)
      assert.match(await printed, /^HTTP\/1\.1 200 [^]*connection: close\r\n[^]*late$/)
    } finally {
      await server.close({ deadlineMs: 0 })
    }
  })

  for (const [what, halfClosed, isWhole] of [['a body that is under way goes on', undefined, true], ['a body that stands still ends with its time', 1, false]]) {
    test(`${name}: ${what}`, async t => {
      let leave
      const left = new Promise(resolve => { leave = resolve })
      const server = serve({
        hostname: '127.0.0.1',
        ...options,
        timeouts: halfClosed === undefined ? {} : { halfClosed },
        fetch ({ signal }) {
          return new Response(new ReadableStream({
            start (controller) { controller.enqueue(Buffer.from('begun')) },
            async pull (controller) {
              // The rest comes behind the end of the client, or never.
              if (!isWhole) return await new Promise(() => {})
              if (!signal.aborted) await once(signal, 'abort')
              controller.enqueue(Buffer.from('done'))
              controller.close()
            },
            cancel () { leave('left') }
          }))
        }
      })
      const socket = open(server.port)
      t.after(async () => {
        socket.destroy()
        await server.close({ deadlineMs: 0 })
      })
      socket.write(GET)
      const pieces = []
      for await (const piece of socket) {
        pieces.push(piece)
        if (!socket.writableEnded && String(Buffer.concat(pieces)).includes('begun')) socket.end()
      }
      const text = String(Buffer.concat(pieces))
      assert.equal(text.endsWith('done\r\n0\r\n\r\n'), isWhole, text)
      if (!isWhole) assert.equal(await left, 'left')
    })
  }

  for (const allows of [false, true]) {
    test(`${name}: with httpAllowHalfOpen ${allows} a slow listener of node:http2's API ${allows ? 'answers' : 'hears that its client is gone'}`, async () => {
      const seen = []
      let isClosed
      const closed = new Promise(resolve => { isClosed = resolve })
      const server = make(async (request, response) => {
        request.on('error', () => {}).on('aborted', () => seen.push('aborted'))
        response.on('close', () => { isClosed(seen.push('close')) }).on('finish', () => seen.push('finish'))
        if (allows) return setTimeout(() => { response.end('late') }, 50)
        await once(response, 'close')
        response.end('too late')
      })
      server.httpAllowHalfOpen = allows
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      try {
        const socket = open(server.address().port)
        const printed = all(socket)
        socket.end(GET)
        const text = await printed
        if (allows) assert.match(text, /^HTTP\/1\.1 200 [^]*late$/)
        else assert.equal(text, '')
        await closed
        assert.deepEqual(seen, allows ? ['finish', 'close'] : ['aborted', 'close'])
      } finally {
        server.compatServer.destroy()
      }
    })
  }
}

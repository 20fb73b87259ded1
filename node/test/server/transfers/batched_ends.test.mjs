// Ends of requests whose events come in one batch of the channel: which turn of the loop their readers get them in, and in front of what.
import assert from 'node:assert/strict'
import { AsyncResource } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import test from 'node:test'
import { FreshConnections } from '../../../dist/http2/callbacks/later.js'
import { ResponseCarrier } from '../../../dist/http2/compat/http1/carrier.js'
import { ServerHttp2Session } from '../../../dist/http2/connection/session.js'
import { reportCompatibleToo, reportStream } from '../../../dist/http2/server/requests.js'
import { Connection } from '../../../dist/server/connection.js'
import { Exchange } from '../../../dist/server/exchange.js'

const [HTTP1, HTTP2] = [11, 20]
const HEAD = ['POST', '/', 'a', 'http', '']
const [NO_ERROR, CANCEL] = [0, 8]

/** A channel that takes all that is submitted. */
const channel = new Proxy({}, { get: () => () => null })
const nextTurn = () => new Promise(resolve => { setImmediate(resolve) })

/** A connection with one request, of whose body nothing has come. */
function asked (version, hasBody = true) {
  const listener = { ahead: { held: 0, room: 1000 }, scope: new AsyncResource('TEST'), timeline: () => undefined }
  const connection = new Connection(channel, listener, 1, version, '127.0.0.1\x001\x00127.0.0.1\x002')
  connection.open++
  const head = HEAD.join('\0')
  return new Exchange(channel, connection, 1, 1, 1, hasBody, head, 4, 6, 8)
}

/** A server with the session of that request. */
function session (exchange) {
  const server = new EventEmitter()
  reportCompatibleToo(server, {})
  server.on('sessionError', () => {})
  const socket = Object.assign(new EventEmitter(), { closed: true, destroy () {} })
  const options = { pingsMax: 10, settingsMax: 10, isStrict: true, headBlockBytesMax: undefined, peerStreamsMax: 100, origins: [], listedSettings: [], settings: {} }
  return Object.assign(new ServerHttp2Session(exchange.connection, server, socket, new FreshConnections(), options), { $server: server })
}

const broken = new Error('broken')
/** Ends of a session by its client, as its connection reports them. */
const ENDS = {
  'a frame that breaks a rule': session => { session.$onBroken(broken) },
  'a transport that fails': session => { session.$onFailed(broken) },
  'GOAWAY with an error': session => { session.$onGoaway(CANCEL, 0, Buffer.alloc(0)) }
}
/** Readers of a request, by the turns that they wait for. */
const READERS = {
  'listens to data': source => { source.resume() },
  'listens to readable': source => { source.on('readable', () => { while (source.read() !== null); }) },
  iterates: async source => { for await (const _ of source); }
}

for (const [end, finish] of Object.entries(ENDS)) {
  for (const [reader, read] of Object.entries(READERS)) {
    for (const api of ['stream', 'request']) {
      for (const time of ['before', 'with', 'behind']) {
        test(`a ${api} whose reader ${reader} has the end of a request that came in one batch with ${end}, ${time} which it began to read`, async () => {
          const exchange = asked(HTTP2)
          const own = session(exchange)
          exchange.connection.owner = own
          const events = []
          let stream
          own.$server.on(api, (source, response) => {
            stream = api === 'stream' ? source : response.stream
            for (const event of ['end', 'close']) source.on(event, () => { events.push(event) })
            stream.on('error', () => {})
            const begin = () => { Promise.resolve(read(source)).catch(() => {}) }
            if (time === 'behind') queueMicrotask(begin)
            else begin()
          })
          reportStream(own.$server, {}, exchange)
          if (time === 'before') await nextTurn()
          exchange.arrived(Buffer.from('all'), true)
          finish(own)
          exchange.ended(CANCEL, true)
          while (!stream.destroyed) await nextTurn()
          for (let turn = 0; turn < 5; turn++) await nextTurn()
          assert.deepEqual(events, ['end', 'close'])
        })
      }
    }
  }
}

for (const hasBody of [true, false]) {
  test(`a stream ${hasBody ? 'with' : 'without'} a body that is not read has its end where its response is whole in one batch with the end of its connection`, async () => {
    const exchange = asked(HTTP2, hasBody)
    const own = session(exchange)
    exchange.connection.owner = own
    const events = []
    let stream
    own.$server.on('stream', source => {
      stream = source
      for (const event of ['aborted', 'error', 'end', 'finish', 'close']) stream.on(event, () => { events.push(event) })
    })
    reportStream(own.$server, {}, exchange)
    await nextTurn()
    stream.respond()
    stream.end('whole')
    if (hasBody) exchange.arrived(Buffer.from('all'), true)
    exchange.ended(NO_ERROR, false)
    own.$onConnectionClosed(() => { events.push('closed') })
    for (let turn = 0; turn < 6; turn++) await nextTurn()
    assert.deepEqual(events, ['finish', 'end', 'close', 'closed'])
  })
}

for (const [reader, read] of Object.entries(READERS)) {
  for (const turns of [0, 1, 2, 3]) {
    test(`a request in the form of node:http that came in one batch ends in the turn behind that batch, or with its last piece where its reader ${reader} ${turns} turns later`, async () => {
      const exchange = asked(HTTP1)
      const request = new IncomingMessage(null)
      const response = new ServerResponse(request)
      const socket = { destroyed: false, $refresh () {} }
      exchange.callbacks = new ResponseCarrier(exchange, request, response, socket, socket, {})
      let endedIn
      let turn = 0
      request.on('end', () => { endedIn = turn })
      const begin = () => { Promise.resolve(read(request)).catch(() => {}) }
      // In front of what the batch defers.
      let next = nextTurn()
      if (turns === 0) begin()
      exchange.arrived(Buffer.from('all'), true)
      for (let now = 1; now <= 6; now++) {
        await next
        turn = now
        next = nextTurn()
        if (now === turns) begin()
      }
      assert.equal(endedIn, Math.max(turns, 1))
    })
  }
}

// The options and results of `request` beside undici's: unusual heads, the body in each of its
// forms, and invalid options.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import net from 'node:net'
import { isReadable, PassThrough, Readable } from 'node:stream'
import test from 'node:test'
import { inspect } from 'node:util'
import * as ours from 'trunkline'
import * as undici7 from 'undici7'
import { h1, ways } from '../../support/servers/servers.mjs'

const [major] = process.versions.node.split('.').map(Number)
const lines = { undici7 }
// undici 8 needs a newer Node than 20.
if (major >= 22) lines.undici8 = await import('undici8')

/** A server that sends every client the same response, and notes the requests. */
async function reporting (t, head) {
  const received = []
  const sockets = new Set()
  const server = net.createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    let text = ''
    socket.on('data', piece => {
      text += piece
      if (!text.endsWith('\r\n\r\n')) return
      received.push(text)
      text = ''
      socket.write(`${head}content-length: 2\r\n\r\nhi`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${server.address().port}`, received }
}

test('a status from 600 to 999 is told as it is, for servers say 999', async t => {
  for (const [printed, status] of [['600', 600], ['999 Request denied', 999]]) {
    const { url } = await reporting(t, `HTTP/1.1 ${printed}\r\n`)
    const agent = new ours.Agent()
    t.after(() => agent.destroy())
    const answer = await agent.request({ origin: url, path: '/', method: 'GET' })
    assert.deepEqual([answer.statusCode, await answer.body.text()], [status, 'hi'])
  }
})

test('a line that is folded is one line', async t => {
  const { url } = await reporting(t, 'HTTP/1.1 200 OK\r\nx-a: one\r\n\ttwo\r\n  three\r\n')
  const agent = new ours.Agent()
  t.after(() => agent.destroy())
  const { headers, body } = await agent.request({ origin: url, path: '/', method: 'GET' })
  assert.match(headers['x-a'], /^one\s+two\s+three$/)
  assert.equal(await body.text(), 'hi')
})

test('the fragment of a path is not sent', async t => {
  const { url, received } = await reporting(t, 'HTTP/1.1 200 OK\r\n')
  const agent = new ours.Agent()
  t.after(() => agent.destroy())
  for (const path of ['/a?b#c', '/#', '/a?b#c#d', '/a']) {
    const { body } = await agent.request({ origin: url, path, method: 'GET' })
    await body.dump()
  }
  assert.deepEqual(received.map(text => text.split(' ')[1]), ['/a?b', '/', '/a?b', '/a'])
})

/** The outcome: a value, or the error's name and code. */
async function outcome (call) {
  try {
    return await call()
  } catch ({ name, code }) {
    return { name, code }
  }
}

const looks = {
  text: async body => [body.bodyUsed, await body.text(), body.bodyUsed],
  blob: async body => {
    const blob = await body.blob()
    return [blob.size, blob.type]
  },
  bytes: async body => (await body.bytes()).length,
  'no JSON': async body => await body.json(),
  'the stream of the web': async body => {
    const pieces = []
    for await (const piece of body.body) pieces.push(Buffer.from(piece))
    return [Buffer.concat(pieces).toString(), body.bodyUsed, body.body === body.body]
  },
  'text behind a look at that stream': async body => [body.body.locked, await body.text()],
  'text of that stream when it is locked': async body => {
    body.body.getReader()
    return await body.text()
  },
  'its Readable': async body => (await body.toArray()).join(''),
  'its Readable with an encoding': async body => (await body.setEncoding('utf8').toArray()).join(''),
  dump: async body => {
    await body.dump()
    return body.bodyUsed
  },
  'dump with a signal that is none': async body => await body.dump({ signal: 5 }),
  'dump with an aborted signal': async body => await body.dump({ signal: AbortSignal.abort() }),
  'text of a body that is destroyed': async body => {
    body.on('error', () => {}).destroy(new Error('mine'))
    return await body.text()
  }
}

for (const [line, lib] of Object.entries(lines)) {
  for (const { name, serve, options } of ways) {
    test(`${name}: a body is what it is in ${line}, however it is read`, async t => {
      const answer = (_, response) => { response.writeHead(200, { 'content-type': 'text/x' }).end('höi') }
      const server = await serve(answer)
      t.after(() => server.close())
      // Ours come over each version, theirs over HTTP/1.1.
      const plain = await h1(answer)
      t.after(() => plain.close())
      const [own, their] = [new ours.Agent(options), new lib.Agent()]
      t.after(() => Promise.all([own.destroy(), their.destroy()]))
      for (const [looked, look] of Object.entries(looks)) {
        const [got, expected] = await Promise.all([[own, server], [their, plain]].map(async ([agent, { url }]) => {
          const { body } = await agent.request({ origin: url, path: '/', method: 'GET' })
          return await outcome(() => look(body))
        }))
        assert.deepEqual(got, expected, looked)
      }
    })
  }

  test(`options of a request that cannot be meant are refused as by ${line}`, async t => {
    const { url, received } = await reporting(t, 'HTTP/1.1 200 OK\r\n')
    const [own, their] = [new ours.Agent(), new lib.Agent()]
    t.after(() => Promise.all([own.destroy(), their.destroy()]))
    for (const wrong of [{ signal: 5 }, { signal: {} }, { signal: 'a' }, { highWaterMark: 'a' }, { highWaterMark: -1 }, { onInfo: 5 }, { upgrade: 'x' }, { method: 'CONNECT' }]) {
      const asked = { origin: url, path: '/', method: 'GET', ...wrong }
      const [got, expected] = await Promise.all([own, their].map(agent => outcome(() => agent.request(asked))))
      assert.deepEqual(got, expected, JSON.stringify(wrong))
      assert.equal(got.code, 'UND_ERR_INVALID_ARG')
    }
    assert.deepEqual(received, [])
  })
}

test('an answer can be spread, listed and printed, and shows nothing of the engine', async t => {
  const server = await h1((request, response) => { response.setHeader('x-a', 'b').end('text') })
  t.after(() => server.close())
  const agent = new ours.Agent()
  t.after(() => agent.destroy())
  for (const dispatcher of [agent, agent.compose(dispatch => (options, handler) => dispatch(options, handler))]) {
    const answer = await dispatcher.request({ origin: server.url, path: '/', method: 'GET', opaque: 'mine' })
    assert.deepEqual(Object.keys(answer).sort(), ['body', 'context', 'headers', 'opaque', 'statusCode', 'statusText', 'trailers'])
    const { body, ...rest } = answer
    assert.equal(rest.statusCode, 200)
    assert.equal(rest.headers['x-a'], 'b')
    assert.equal(rest.opaque, 'mine')
    const text = inspect(answer, { depth: Infinity, showHidden: false })
    assert.match(text, /statusCode: 200/)
    assert.match(text, /'x-a': 'b'/)
    assert.doesNotMatch(text, /Bridge|State|submissions/)
    assert.doesNotMatch(JSON.stringify(answer), /bridge|submissions/)
    assert.equal(await body.text(), 'text')
  }
})

test('console.log of a handler\'s controller shows what a handler may know of it, and nothing of the engine', async t => {
  const { url } = await reporting(t, 'HTTP/1.1 200 OK\r\n')
  const agent = new ours.Agent()
  t.after(() => agent.destroy())
  const text = await new Promise(resolve => {
    agent.dispatch({ origin: url, path: '/', method: 'GET' }, {
      onRequestStart () {},
      onResponseStart (controller) { controller.abort(new Error('enough')) },
      onResponseData () {},
      onResponseEnd () {},
      onResponseError (controller) { resolve(inspect(controller, { depth: Infinity })) }
    })
  })
  assert.match(text, /^RequestController \{/)
  assert.match(text, /aborted: true/)
  assert.match(text, /reason: Error: enough/)
  assert.doesNotMatch(text, /submissions|control:|bridge:/)
})

test('highWaterMark is the one of the body\'s Readable', async t => {
  const { url } = await reporting(t, 'HTTP/1.1 200 OK\r\n')
  const agent = new ours.Agent()
  t.after(() => agent.destroy())
  for (const [highWaterMark, expected] of [[1024, 1024], [0, 0], [undefined, 65_536]]) {
    const { body } = await agent.request({ origin: url, path: '/', method: 'GET', highWaterMark })
    assert.equal(body.readableHighWaterMark, expected)
    await body.dump()
  }
})

test('the state of a body\'s stream is made when something looks at it, and is then that of any Readable', async t => {
  const server = await h1((_, response) => response.end('abcdef'))
  t.after(() => server.close())
  const agent = new ours.Agent()
  t.after(() => agent.close())
  const ask = async () => (await agent.request({ origin: server.url, path: '/', method: 'GET' })).body
  const whole = await ask()
  assert.equal(await whole.text(), 'abcdef')
  assert.equal(Object.hasOwn(whole, '_readableState'), false)
  assert.deepEqual([whole.bodyUsed, whole.readableEnded, whole.destroyed, whole instanceof Readable, isReadable(whole)], [true, true, true, true, false])
  const read = await ask()
  assert.deepEqual([isReadable(read), read.readableHighWaterMark, read.listenerCount('data'), Object.hasOwn(read, '_readableState')], [true, 65_536, 0, true])
  read.setEncoding('latin1')
  const seen = []
  read.prependListener('end', () => { seen.push('end') })
  for await (const chunk of read) seen.push(chunk)
  assert.deepEqual(seen.join(' '), 'abcdef end')
  const piped = (await ask()).pipe(new PassThrough())
  assert.equal((await piped.toArray()).join(''), 'abcdef')
})

test('the body of an answer that nobody has read has its listeners and its length, and one that was read is disturbed', async t => {
  const server = await h1((request, response) => { response.end('hello') })
  t.after(() => server.close())
  const client = new ours.Client(server.url)
  t.after(() => client.destroy())
  const { body } = await client.request({ path: '/', method: 'GET' })
  Object.assign(body, { method: 'mine', held: 'mine', seen: 'mine' })
  assert.deepEqual([body.eventNames(), body.readableLength, Readable.isDisturbed(body)], [[], 5, false])
  assert.equal(await body.text(), 'hello')
  assert.deepEqual([Readable.isDisturbed(body), body.readableDidRead, body.method], [true, true, 'mine'])
})

test('listeners of a body run in the async context of the first of them, also on a connection that was another request\'s', async t => {
  const server = await h1((request, response) => { response.write('a', () => { setImmediate(() => { response.end('b') }) }) })
  t.after(() => server.close())
  const client = new ours.Client(server.url)
  t.after(() => client.destroy())
  const storage = new AsyncLocalStorage()
  for (const name of ['first', 'second']) {
    const seen = new Set()
    await storage.run(name, async () => {
      const { body } = await client.request({ path: '/', method: 'GET' })
      for (const event of ['data', 'end', 'close']) body.on(event, () => { seen.add(`${event} ${storage.getStore()}`) })
      await once(body, 'close')
    })
    assert.deepEqual([...seen], [`data ${name}`, `end ${name}`, `close ${name}`])
  }
})

test('a reason phrase beyond ASCII is read as UTF-8, as by undici, and by fetch too', async t => {
  const server = net.createServer(socket => {
    socket.on('error', () => {}).once('data', () => { socket.end('HTTP/1.1 404 Näh, ſo nicht\r\ncontent-length: 0\r\n\r\n') })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  const url = `http://127.0.0.1:${server.address().port}`
  for (const { Agent, request, fetch } of [undici7, ours]) {
    const dispatcher = new Agent()
    t.after(() => dispatcher.destroy())
    const { statusText, body } = await request(url, { dispatcher })
    await body.dump()
    assert.deepEqual([statusText, (await fetch(url, { dispatcher })).statusText], ['Näh, ſo nicht', 'Näh, ſo nicht'])
  }
})

// Callbacks and promises: their errors, refusals, and exceptions of their own.
import { closing, turns } from '../stage.mjs'

const hello = (request, response) => { response.end('hello') }
const NOWHERE = 'http://localhost:1'

/** Each call of a dispatcher with a callback, and what the callback gets. */
const calls = {
  request: (client, options, reported) => client.request(options, reported),
  stream: (client, options, reported) => client.stream(options, () => { throw new Error('factory') }, reported),
  connect: (client, options, reported) => client.connect(options?.path === '/' ? { ...options, path: 'localhost:1' } : options, reported),
  upgrade: (client, options, reported) => client.upgrade(options, reported)
}

const programs = {}
for (const [name, call] of Object.entries(calls)) {
  programs[`${name}: the second argument of a failure has the opaque value`] = async ({ Client }, t) => {
    const log = t.log('client')
    for (const opaque of [undefined, null, 'mine']) {
      const client = t.own(new Client(NOWHERE))
      await new Promise(resolve => {
        call(client, { path: '/', method: 'GET', opaque }, (error, data) => { log(error, data); resolve() })
      })
    }
  }
  programs[`${name}: the second argument of a refusal has the opaque value`] = async ({ Client }, t) => {
    const log = t.log('client')
    for (const options of [null, undefined, { path: 7, method: 'GET', opaque: 'mine' }, { path: '/', method: 'G T' }, { path: '/', method: 'GET', signal: 'none', opaque: 1 }]) {
      const client = t.own(new Client(NOWHERE))
      await new Promise(resolve => {
        call(client, options, (error, data) => { log(error, data); resolve() })
      })
    }
  }
  programs[`${name}: a callback that is none`] = async ({ Client }, t) => {
    const log = t.log('client')
    const client = t.own(new Client(NOWHERE))
    t.attempt(log, 'string', () => call(client, { path: '/', method: 'GET' }, 'callback'))
    t.attempt(log, 'null', () => call(client, { path: '/', method: 'GET' }, null))
  }
  programs[`${name}: a signal that has aborted`] = async ({ Client }, t) => {
    const log = t.log('client')
    const client = t.own(new Client(NOWHERE))
    await new Promise(resolve => {
      call(client, { path: '/', method: 'GET', signal: AbortSignal.abort(new Error('enough')), opaque: 'mine' }, (error, data) => { log(error, data); resolve() })
    })
  }
}

/** A callback that throws, of an answer whose body is so long. */
const throwing = length => async ({ Client }, t) => {
  const log = t.log('client')
  const server = await t.serve((request, response) => { response.end(Buffer.alloc(length)) })
  const client = t.own(new Client(server.url))
  client.request({ path: '/', method: 'GET' }, (error, answer) => {
    log('called', error, answer.statusCode)
    throw new Error('from the callback')
  })
  await client.close()
  log('closed')
}

export default {
  ...programs,
  'request: a callback that throws, of an answer without a body': throwing(0),
  'request: a callback that throws, of a small answer': throwing(5),
  'request: a callback that throws, of a large answer': throwing(4 << 20),
  'request: a callback that throws at a failure': async ({ Client }, t) => {
    const log = t.log('client')
    const client = t.own(new Client(NOWHERE))
    client.request({ path: '/', method: 'GET' }, () => { throw new Error('from the callback') })
    await client.close()
    log('closed')
  },
  'request: others go on behind a callback that throws': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(hello)
    const client = t.own(new Client(server.url))
    client.request({ path: '/', method: 'GET' }, () => { throw new Error('from the callback') })
    const { body } = await client.request({ path: '/', method: 'GET' })
    log(await body.text())
  },
  'onInfo that throws': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.writeProcessing(); response.end('x') })
    const client = t.own(new Client(server.url))
    await t.settle(log, 'request', client.request({ path: '/', method: 'GET', onInfo: () => { throw new Error('from onInfo') } }), () => ['answered'])
    await client.close()
    log('closed')
  },
  'destroy with a request under way that is looked at later': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(() => {})
    const client = t.own(new Client(server.url))
    const promise = client.request({ path: '/', method: 'GET' })
    await new Promise(resolve => { server.server.once('request', resolve) })
    await client.destroy()
    await t.settle(log, 'request', promise)
    await turns()
  },
  'destroy with requests in line that are looked at later': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(() => {})
    const client = t.own(new Client(server.url))
    const promises = [1, 2, 3].map(() => client.request({ path: '/', method: 'GET' }))
    await client.destroy()
    for (const promise of promises) await t.settle(log, 'request', promise)
    await turns()
  },
  'destroy of a Pool and of an Agent with requests under way': async ({ Agent, Pool }, t) => {
    const log = t.log('client')
    const server = await t.serve(() => {})
    for (const dispatcher of [new Pool(server.url), new Agent()]) {
      const promise = dispatcher.request({ origin: server.url, path: '/', method: 'GET' })
      await new Promise(resolve => { server.server.once('request', resolve) })
      await dispatcher.destroy(new Error('mine'))
      await t.settle(log, 'request', promise)
    }
    await turns()
  },
  'destroy with an answer under way': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.write('begin') })
    const client = t.own(new Client(server.url))
    const { body } = await client.request({ path: '/', method: 'GET' })
    const text = body.text()
    await new Promise(resolve => { setImmediate(resolve) })
    await client.destroy()
    await t.settle(log, 'text', text)
    await turns()
  },
  'close and destroy in their orders': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(hello)
    const closedTwice = new Client(server.url)
    await t.settle(log, 'close', closedTwice.close())
    await t.settle(log, 'close again', closedTwice.close())
    await t.settle(log, 'destroy', closedTwice.destroy())
    await t.settle(log, 'close behind destroy', closedTwice.close())
    const destroyed = new Client(server.url)
    await t.settle(log, 'destroy', destroyed.destroy())
    await t.settle(log, 'destroy again', destroyed.destroy())
    await t.settle(log, 'close', destroyed.close())
    const both = new Client(server.url)
    const [close, destroy] = [both.close(), both.destroy()]
    await t.settle(log, 'close of both', close)
    await t.settle(log, 'destroy of both', destroy)
    await t.settle(log, 'close behind both', both.close())
    await t.settle(log, 'request', both.request({ path: '/', method: 'GET' }))
  },
  'drain behind requests': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(hello)
    const client = t.own(new Client(server.url))
    client.on('drain', origin => { log('drain', String(origin) === `${server.url}/` || origin?.origin === server.url) })
    const { body } = await client.request({ path: '/', method: 'GET' })
    await body.text()
    await turns()
  },
  'an aborted request': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(() => {})
    const client = t.own(new Client(server.url))
    const abort = new AbortController()
    const called = new Promise(resolve => {
      client.request({ path: '/', method: 'GET', signal: abort.signal, opaque: 'mine' }, (error, data) => { log(error, data); resolve() })
    })
    await new Promise(resolve => { server.server.once('request', resolve) })
    abort.abort()
    await called
  },
  'a signal that aborts while the body comes': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.write('begin') })
    const client = t.own(new Client(server.url))
    const abort = new AbortController()
    const { body } = await client.request({ path: '/', method: 'GET', signal: abort.signal })
    t.watch(log, body, 'body', ['error', 'close', 'end'])
    const closed = closing(body)
    abort.abort()
    await closed
  }
}

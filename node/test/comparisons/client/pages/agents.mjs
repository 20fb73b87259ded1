// Agent, Pool, BalancedPool, RoundRobinPool, their statistics and lives.
import { once } from 'node:events'
import { turns } from '../stage.mjs'
import { after, get, hello, known, onVersions, portless, programs, textOf, VERSIONS } from '../page.mjs'

const wait = (request, response) => { if (request.url === '/wait') return; response.end(request.url) }

export default {
  ...onVersions(VERSIONS, {
    'Agent: events of an exchange, in their order': async p => {
      const server = await p.serve(hello)
      const agent = p.agent()
      for (const event of ['connect', 'disconnect', 'connectionError', 'drain']) agent.on(event, (origin, targets, error) => { p.log(event, String(origin?.origin ?? origin) === server.url, targets?.length, targets?.map(({ constructor: { name } }) => name).length > 0, error === undefined ? '' : known(error)) })
      p.log(await agent.request({ ...get, origin: server.url }).then(textOf))
      await agent.close()
      p.log('closed')
      await turns(5)
    },
    'Agent: close waits for what is under way': async p => {
      const held = []
      const server = await p.serve((request, response) => { held.push(response) })
      const agent = p.agent()
      const call = agent.request({ ...get, origin: server.url }).then(textOf).then(text => { p.log('answered', text) })
      await server.asked()
      const closing = agent.close().then(value => { p.log('closed', value) })
      p.log(agent.closed, agent.destroyed)
      await p.settle('another', agent.request({ ...get, origin: server.url }))
      held[0].end('late')
      await Promise.all([call, closing])
      p.log(agent.closed, agent.destroyed)
    },
    'Agent: destroy with an error': async p => {
      const server = await p.serve(() => {})
      const agent = p.agent()
      const call = agent.request({ ...get, origin: server.url }).catch(error => { p.log('failed', known(error)) })
      await server.asked()
      await agent.destroy(new Error('enough')).then(value => { p.log('destroyed', value) })
      await call
      await p.settle('another', agent.request({ ...get, origin: server.url }))
      await p.settle('close', agent.close())
      await p.settle('destroy', agent.destroy())
    },
    'Agent: statistics through an exchange': async p => {
      const held = []
      const server = await p.serve((request, response) => { held.push(response) })
      const agent = p.agent()
      const stats = () => { const s = agent.stats[server.url]; return s === undefined ? 'none' : JSON.stringify([Boolean(s.connected), s.free, s.pending, s.queued, s.running, s.size]) }
      p.log(stats())
      const call = agent.request({ ...get, origin: server.url })
      await server.asked()
      p.log(stats())
      held[0].end('x')
      await call.then(textOf)
      await turns(3)
      p.log(stats())
    },
    'Agent: several connections': async p => {
      const server = await p.serve(hello)
      const agent = p.agent({ connections: 2, pipelining: 1 })
      const returned = []
      const all = []
      for (let at = 0; at < 4; at++) {
        all.push(new Promise(resolve => {
          returned.push(agent.dispatch({ ...get, origin: server.url }, { onRequestStart () {}, onResponseStart () {}, onResponseData () {}, onResponseEnd: resolve, onResponseError: (_, error) => { p.log(known(error)); resolve() } }))
        }))
      }
      await Promise.all(all)
      p.log(returned.slice(0, 1), server.counts.sockets <= 2)
    },
    'Pool: what dispatch returns, and drain': async p => {
      const server = await p.serve(hello)
      const pool = p.pool(server.url, { connections: 1, pipelining: 1 })
      const handler = done => ({ onRequestStart () {}, onResponseStart () {}, onResponseData () {}, onResponseEnd () { p.log('end'); done() }, onResponseError (_, error) { p.log(known(error)); done() } })
      const drained = once(pool, 'drain').then(([origin]) => { p.log('drain', origin.origin === server.url) })
      const one = new Promise(resolve => { p.log(pool.dispatch(get, handler(resolve))) })
      await one
      await drained
    },
    'Pool: events and their targets': async p => {
      const server = await p.serve(hello)
      const pool = p.pool(server.url, { connections: 1 })
      pool.on('connect', (origin, targets) => { p.log('connect', origin.origin === server.url, targets[0] === pool, targets.length) })
      pool.on('disconnect', (origin, targets, error) => { p.log('disconnect', targets[0] === pool, targets.length, known(error)) })
      await pool.request(get).then(textOf)
      await pool.destroy()
      await turns(5)
    },
    'Pool: requests in line are failed by destroy': async p => {
      const server = await p.serve(() => {})
      const pool = p.pool(server.url, { connections: 1, pipelining: 1, maxConcurrentStreams: 1 })
      const calls = [1, 2, 3].map(at => pool.request(get).catch(error => { p.log(at, known(error)) }))
      await server.asked()
      await after(20)
      await pool.destroy().then(() => { p.log('destroyed') })
      await Promise.all(calls)
    },
    'RoundRobinPool: connections in turn': async (p, { RoundRobinPool }) => {
      const sockets = new Map()
      const server = await p.serve((request, response) => {
        const socket = request.stream?.session?.socket ?? request.socket
        if (!sockets.has(socket.remotePort)) sockets.set(socket.remotePort, 0)
        sockets.set(socket.remotePort, sockets.get(socket.remotePort) + 1)
        response.end('x')
      })
      const pool = p.own(new RoundRobinPool(server.url, p.options({ connections: 3 })))
      for (let at = 0; at < 9; at++) await pool.request(get).then(textOf)
      p.log([...sockets.values()])
    },
    'BalancedPool: a failing upstream gets fewer requests': async (p, { BalancedPool }) => {
      const [good, bad] = await Promise.all([p.serve((request, response) => { response.end('good') }), p.serve((request, response) => { (request.stream?.session ?? request.socket).destroy() })])
      const pool = p.own(new BalancedPool([good.url, bad.url], p.options()))
      const got = { good: 0, bad: 0 }
      for (let at = 0; at < 20; at++) await pool.request(get).then(textOf).then(() => { got.good++ }, () => { got.bad++ })
      p.log(got.good > got.bad, got.bad > 0)
    },
    'a signal of a request of an Agent': async p => {
      const server = await p.serve(wait)
      const agent = p.agent()
      const aborted = AbortSignal.abort(new Error('before'))
      await p.settle('before', agent.request({ ...get, origin: server.url, signal: aborted }))
      const controller = new AbortController()
      const call = p.settle('under way', agent.request({ path: '/wait', method: 'GET', origin: server.url, signal: controller.signal }))
      await server.asked()
      controller.abort()
      await call
      p.log(await agent.request({ path: '/ok', method: 'GET', origin: server.url }).then(textOf))
    },
    'close of a dispatcher resolves in order with its requests': async p => {
      const server = await p.serve(hello)
      for (const make of ['client', 'pool', 'agent']) {
        const dispatcher = make === 'agent' ? p.agent() : p[make](server.url)
        const call = dispatcher.request({ ...get, origin: server.url }).then(answer => { p.log(make, 'head'); return answer.body.text() }).then(() => { p.log(make, 'body') })
        const closed = dispatcher.close().then(() => { p.log(make, 'closed') })
        await Promise.all([call, closed])
      }
    }
  }),
  ...programs({
    'Agent: options that are refused': async (p, { Agent }) => {
      for (const options of [{ factory: 'a' }, { maxOrigins: 0 }, { maxOrigins: -1 }, { maxOrigins: 'a' }, { maxOrigins: NaN }, { connections: -1 }, { connect: 'x' }, { maxOrigins: 1.5 }, { maxOrigins: Infinity }]) {
        p.attempt(JSON.stringify(options), () => p.own(new Agent(options)), value => [value.constructor.name])
      }
    },
    'Pool: options that are refused': async (p, { Pool }) => {
      for (const options of [{ connections: 0 }, { connections: -1 }, { connections: 'a' }, { factory: 5 }, { connect: 5 }, { connections: null }]) {
        p.attempt(JSON.stringify(options), () => p.own(new Pool('http://localhost', options)), value => [value.constructor.name])
      }
      for (const url of ['x', '', null, 5, 'ftp://localhost', 'http://localhost/path', 'http://localhost/?a', new URL('http://localhost')]) p.attempt(String(url), () => p.own(new Pool(url)), value => [value.constructor.name])
    },
    'Agent: origins that are refused': async p => {
      const agent = p.agent()
      for (const origin of [undefined, null, '', 5, 'x', {}, 'ftp://localhost', 'localhost:80', 'http://', 'http://localhost:1/path', new URL('http://localhost:1/path'), new URL('http://localhost:1/?a'), new URL('http://localhost:1/#a')]) await p.settle(String(origin), agent.request({ ...get, origin }))
    },
    'BalancedPool: upstreams': async (p, { BalancedPool }) => {
      const pool = p.own(new BalancedPool(['http://localhost:1', new URL('http://localhost:2')]))
      p.log(pool.upstreams, pool.getUpstream?.('http://localhost:1') !== undefined)
      pool.addUpstream('http://localhost:1').addUpstream('http://localhost:3').removeUpstream('http://localhost:2').removeUpstream('http://localhost:9')
      p.log(pool.upstreams)
      p.attempt('no factory', () => new BalancedPool('http://localhost', { factory: 'x' }))
    },
    'PoolStats and ClientStats: their members': async (p, { Pool, Client }) => {
      const pool = p.own(new Pool('http://localhost'))
      const client = p.own(new Client('http://localhost'))
      const some = ({ connected, free, pending, queued, running, size }) => [connected, free, pending, queued, running, size]
      p.log(some(pool.stats), some(client.stats))
    },
    'dispatchers: what is thrown for a callback that is none': async (p, { Client, Pool, Agent }) => {
      for (const [name, make] of Object.entries({ Client: () => new Client('http://localhost'), Pool: () => new Pool('http://localhost'), Agent: () => new Agent() })) {
        const made = p.own(make())
        for (const call of ['close', 'destroy', 'request', 'stream', 'connect', 'upgrade']) {
          p.attempt(`${name} ${call}`, () => made[call](call === 'close' ? 5 : call === 'destroy' ? null : { ...get, origin: 'http://localhost:1' }, call === 'stream' ? () => {} : 5, 5), value => [value?.constructor.name])
        }
      }
    },
    'dispatchers: printed': async (p, { Client, Pool, Agent }) => {
      for (const made of [new Client('http://localhost:1234'), new Pool('http://localhost:1234'), new Agent()]) {
        p.log(Object.prototype.toString.call(made), String(made), made.constructor.name, Object.getPrototypeOf(made.constructor.prototype)?.constructor !== undefined)
        await made.destroy()
      }
    },
    'asyncDispose': async (p, { Client, Pool, Agent }) => {
      for (const made of [new Client('http://localhost:1234'), new Pool('http://localhost:1234'), new Agent()]) {
        p.log(typeof made[Symbol.asyncDispose], made.closed, made.destroyed)
        await made[Symbol.asyncDispose]?.()
        p.log(made.closed, made.destroyed)
        await made.destroy()
      }
    },
    'close and destroy: every order': async (p, { Client }) => {
      for (const calls of [['close', 'close'], ['close', 'destroy'], ['destroy', 'close'], ['destroy', 'destroy'], ['close', 'destroy', 'close'], ['destroy', 'close', 'destroy']]) {
        const client = new Client('http://localhost:1')
        const label = calls.join()
        await Promise.allSettled(calls.map((call, at) => client[call]().then(value => { p.log(label, at, 'resolved', value, client.closed, client.destroyed) }, error => { p.log(label, at, 'rejected', known(error)) })))
      }
    },
    'connection errors by kind': async p => {
      const agent = p.agent({ connect: { timeout: 500 } })
      for (const origin of ['http://127.0.0.1:1', 'http://name.invalid', 'https://127.0.0.1:1', 'http://[::1]:1']) {
        await agent.request({ ...get, origin }).catch(error => { p.log(portless(origin), error.name, error.code, portless(error.message), error.syscall, error.hostname, error.address, typeof error.errno) })
      }
    },
    'connectionError: its arguments': async p => {
      const agent = p.agent()
      agent.on('connectionError', (origin, targets, error) => { p.log(origin instanceof URL ? 'URL' : typeof origin, targets.length, error.code) })
      await p.settle('call', agent.request({ ...get, origin: 'http://127.0.0.1:1' }))
      await turns(3)
    },
    'maxOrigins: the error': async (p, { errors }) => {
      const server = await p.serve(hello)
      const agent = p.agent({ maxOrigins: 1 })
      await agent.request({ ...get, origin: server.url }).then(textOf)
      await agent.request({ ...get, origin: 'http://127.0.0.1:1' }).catch(error => { p.log(known(error), error instanceof errors.MaxOriginsReachedError, error instanceof errors.UndiciError) })
    }
  })
}

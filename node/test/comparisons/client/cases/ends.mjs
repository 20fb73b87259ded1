// Programs whose dispatchers end, or whose servers are gone: what came and is unread, what is under way, and the events of each.
import net from 'node:net'
import { once } from 'node:events'
import { get, known, programs, textOf } from '../page.mjs'
import { turns } from '../stage.mjs'

/** More than a body's stream buffers. */
const LONG = 'x'.repeat(300_000)
const MAKERS = {
  client: (p, origin, options) => p.client(origin, options),
  pool: (p, origin, options) => p.pool(origin, options),
  agent: (p, origin, options) => p.agent(options)
}

/** An origin whose port nothing listens on any more. */
async function goneOrigin () {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  await new Promise(resolve => { server.close(resolve) })
  return `http://127.0.0.1:${port}`
}

/** Resolves behind all of a response's bytes: its server has written them, and another exchange has come behind them. */
async function allCame (p, server) {
  await server.asked()
  const other = p.client(server.url)
  for (let n = 0; n < 20; n++) await other.request({ ...get, path: '/short' }).then(textOf)
}

const long = p => p.serve((request, response) => { response.end(request.url === '/short' ? 'short' : LONG) })

export default programs({
  ...Object.fromEntries(Object.entries(MAKERS).map(([name, make]) => [`ends: a ${name} whose server is gone, three requests at a time`, async p => {
    const origin = await goneOrigin()
    const dispatcher = make(p, origin)
    const events = p.stage.log('events')
    for (const event of ['connect', 'disconnect', 'connectionError', 'drain']) dispatcher.on(event, (url, targets, error) => { events(event, targets.length, error === undefined ? '' : error.code) })
    for (let round = 0; round < 4; round++) {
      const all = [1, 2, 3].map(n => dispatcher.request({ ...get, origin }).catch(error => { p.log(round, n, error.code) }))
      await Promise.all(all)
      await turns(5)
    }
  }])),
  ...Object.fromEntries(Object.entries(MAKERS).map(([name, make]) => [`ends: a ${name} is closed while a response is unread`, async p => {
    const server = await long(p)
    const dispatcher = make(p, server.url)
    const { body } = await dispatcher.request({ ...get, origin: server.url })
    await allCame(p, server)
    const closed = dispatcher.close().then(() => { p.log('closed') })
    await turns(20)
    p.log('is read now', dispatcher.closed, dispatcher.destroyed)
    p.log((await body.text()).length)
    await closed
  }])),
  ...Object.fromEntries(Object.entries(MAKERS).map(([name, make]) => [`ends: a ${name} is destroyed while a response is unread`, async p => {
    const server = await long(p)
    const dispatcher = make(p, server.url)
    const { body } = await dispatcher.request({ ...get, origin: server.url })
    body.on('error', error => { p.log('error', known(error)) }).on('close', () => { p.log('close') })
    await allCame(p, server)
    await dispatcher.destroy()
    await turns(10)
    p.log(body.destroyed, known(body.errored))
    await p.settle('text', body.text())
  }])),
  'ends: a body that is unread and short is kept by its reader': async p => {
    const server = await long(p)
    const client = p.client(server.url)
    const { body } = await client.request({ ...get, path: '/short' })
    await allCame(p, server)
    await client.destroy()
    p.log(await body.text())
  },
  ...Object.fromEntries(Object.entries(MAKERS).map(([name, make]) => [`ends: a ${name} that is busy is closed, and then destroyed`, async p => {
    let answer
    const server = await p.serve((request, response) => { answer = () => { response.end('late') } })
    const dispatcher = make(p, server.url)
    const request = dispatcher.request({ ...get, origin: server.url }).then(textOf).then(text => { p.log('got', text) }, error => { p.log('failed', error.code) })
    await server.asked()
    const closed = dispatcher.close().then(() => { p.log('closed') })
    const destroyed = dispatcher.destroy().then(() => { p.log('destroyed') })
    p.log(dispatcher.closed, dispatcher.destroyed)
    await turns(10)
    answer()
    await Promise.all([request, closed, destroyed])
    await p.settle('after', dispatcher.request({ ...get, origin: server.url }))
  }])),
  'ends: the statistics of a pool with more requests than connections': async p => {
    const server = await p.serve((request, response) => { response.end('x') })
    for (const connections of [1, 2, 3, null]) {
      const pool = p.pool(server.url, { connections })
      const all = [1, 2, 3, 4].map(() => pool.request(get).then(textOf))
      p.log(connections, JSON.stringify(pool.stats))
      await Promise.all(all)
    }
  }
})

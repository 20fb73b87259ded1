// Acts of a listener of a dispatcher's events x event x dispatcher x requests: what becomes of the requests, and which of them the server gets.
import { once } from 'node:events'
import net from 'node:net'
import { turns } from '../stage.mjs'

const MAKE = {
  Client: ({ Client }, origin) => new Client(origin),
  'Client, pipelining 3': ({ Client }, origin) => new Client(origin, { pipelining: 3 }),
  Pool: ({ Pool }, origin) => new Pool(origin),
  'Pool of 1': ({ Pool }, origin) => new Pool(origin, { connections: 1 }),
  Agent: ({ Agent }) => new Agent()
}
const ACTS = {
  destroy: ({ dispatcher }) => dispatcher.destroy(),
  'destroy with an error': ({ dispatcher }) => dispatcher.destroy(new Error('mine')),
  close: ({ dispatcher }) => dispatcher.close(),
  'abort of all requests': ({ controller }) => { controller.abort(new Error('mine')) }
}

/** An origin whose server is down. */
async function refusing () {
  const server = net.createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address()
  await new Promise(resolve => { server.close(resolve) })
  return `http://127.0.0.1:${port}`
}

const program = (make, event, act, count) => async (module, stage) => {
  const server = event === 'connectionError' ? { url: await refusing() } : await stage.serve((request, response) => {
    stage.log('server')(request.url)
    if (event === 'disconnect') response.setHeader('connection', 'close')
    response.end('hello')
  })
  const names = Array.from({ length: count }, (_, index) => String(index))
  for (const side of ['server', 'act', ...names]) stage.log(side)
  const origin = server.url
  const dispatcher = stage.own(make(module, origin))
  const controller = new AbortController()
  const ask = async name => {
    try {
      const { statusCode, body } = await dispatcher.request({ origin, path: `/${name}`, method: 'GET', signal: controller.signal })
      stage.log(name)(statusCode, await body.text())
    } catch (error) {
      stage.log(name)('failed', error)
    }
  }
  const acted = new Promise(resolve => {
    if (event === 'connectionError') dispatcher.on(event, (_, targets, error) => { stage.log('events')(event, error) })
    dispatcher.once(event, () => {
      stage.log('act')(event)
      Promise.resolve(ACTS[act]({ dispatcher, controller })).then(() => { stage.log('act')('over'); resolve() })
    })
  })
  await Promise.all(names.map(ask))
  await acted
  await turns()
}

const programs = {}
for (const [kind, make] of Object.entries(MAKE)) {
  for (const event of ['connect', 'disconnect', 'connectionError']) {
    for (const act of Object.keys(ACTS)) {
      // Where a pool has several connections, those that are open go on.
      for (const count of (kind.startsWith('Client') || event === 'connectionError') && !act.startsWith('abort') ? [1, 3] : [1]) programs[`${kind}, ${event}, ${count} requests: ${act}`] = program(make, event, act, count)
    }
  }
}
export default programs

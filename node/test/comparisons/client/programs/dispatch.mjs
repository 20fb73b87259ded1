// Values that `dispatch` returns, and the events 'drain' that follow: for each dispatcher, protocol and number of requests.
import { turns } from '../stage.mjs'

const COUNTS = [1, 2, 3]
const connect = { rejectUnauthorized: false }

const dispatchers = {
  'a Client': ({ Client }, url) => new Client(url, { connect }),
  'a Client that pipelines': ({ Client }, url) => new Client(url, { connect, pipelining: 3 }),
  'a Pool': ({ Pool }, url) => new Pool(url, { connect }),
  'a Pool of one connection': ({ Pool }, url) => new Pool(url, { connect, connections: 1 }),
  'a Pool of two connections': ({ Pool }, url) => new Pool(url, { connect, connections: 2 }),
  'an Agent': ({ Agent }) => new Agent({ connect }),
  'an Agent of one connection': ({ Agent }) => new Agent({ connect, connections: 1 }),
  'an Agent of two connections': ({ Agent }) => new Agent({ connect, connections: 2 })
}

const answer = (request, response) => { response.end('x') }
const protocols = {
  'HTTP/1.1': stage => stage.serve(answer),
  'HTTP/2': stage => stage.serveH2(answer)
}

/** Logs what `dispatch` returns for each of `count` requests at once; resolves when all have ended. */
async function dispatches (dispatcher, log, origin, count) {
  await Promise.all(Array.from({ length: count }, () => new Promise(resolve => {
    log('dispatch', dispatcher.dispatch({ origin, path: '/', method: 'GET' }, {
      onRequestStart () {},
      onResponseStart () {},
      onResponseData () {},
      onResponseEnd: resolve,
      onResponseError (_, error) {
        log('failed', error)
        resolve()
      }
    }))
  })))
}

/** 'drain' comes within a few turns of the end that it follows. */
async function settled (drains, expected) {
  while (drains() < expected) await new Promise(resolve => { setTimeout(resolve, 1) })
}

const program = (make, serve, count) => async (module, stage) => {
  const { url } = await serve(stage)
  const dispatcher = stage.own(make(module, url))
  const log = stage.log('returned')
  const events = stage.log('events')
  let drains = 0
  let falses = 0
  dispatcher.on('drain', (origin, targets) => {
    drains++
    events('drain', origin.origin === url, targets.length, targets[0] === dispatcher)
  })
  // The second round finds the connections of the first.
  for (const round of ['cold', 'warm']) {
    log(round)
    const before = drains
    falses = 0
    await dispatches(dispatcher, (text, value) => {
      if (value === false) falses++
      log(text, value)
    }, url, count)
    await settled(() => drains - before, falses > 0 ? 1 : 0)
    events(round, drains - before)
    // undici uses a connection again one turn after the end of its request.
    await turns(10)
  }
}

const programs = {}
for (const [name, make] of Object.entries(dispatchers)) {
  for (const [protocol, serve] of Object.entries(protocols)) {
    for (const count of COUNTS) {
      programs[`${name}, ${count} at once, ${protocol}`] = program(make, serve, count)
    }
  }
}

programs['a Client that pipelines, while it connects'] = async (module, stage) => {
  const { url } = await stage.serve(answer)
  const client = stage.own(new module.Client(url, { pipelining: 3 }))
  const log = stage.log('client')
  const drained = new Promise(resolve => {
    client.on('drain', (origin, targets) => {
      log('drain', targets.length, targets[0] === client)
      resolve()
    })
  })
  await dispatches(client, log, url, 1)
  await drained
}

programs['a Client whose requests are made by request()'] = async (module, stage) => {
  const { url } = await stage.serve(answer)
  const client = stage.own(new module.Client(url))
  const log = stage.log('client')
  const drained = new Promise(resolve => { client.on('drain', resolve) })
  const { body } = await client.request({ path: '/', method: 'GET' })
  log(await body.text())
  await drained
  log('drain')
}

export default programs

// Options of dispatchers and of requests, and what dispatchers say of themselves.
const hello = (request, response) => { response.end('hello') }
const GET = { path: '/', method: 'GET' }

/** The outcome of constructors with these arguments. */
const made = (...all) => async (module, t) => {
  const log = t.log('client')
  for (const given of all) {
    for (const name of ['Client', 'Pool']) {
      t.attempt(log, `${name} of ${JSON.stringify(given)}`, () => { const one = new module[name](given); void one.destroy(); return one }, () => ['made'])
    }
  }
}
const asked = options => async ({ Client, Pool, Agent }, t) => {
  const log = t.log('client')
  const server = await t.serve(hello)
  for (const dispatcher of [new Client(server.url), new Pool(server.url), new Agent()]) {
    t.own(dispatcher)
    for (const call of [() => dispatcher.request({ ...GET, origin: server.url, ...options }).then(({ body }) => body.text()), () => dispatcher.connect({ path: 'localhost:1', origin: server.url, ...options }).then(() => 'opened')]) {
      await t.settle(log, 'call', call())
    }
  }
}

const programs = {
  'parts of a URL': made({ hostname: 'localhost', protocol: 'http:', port: 80 }, { hostname: 'localhost', protocol: 'http:', port: '8080' }, { hostname: 'localhost', protocol: 'https:' },
    { hostname: 'localhost', protocol: 'http:', port: '' }, { origin: 'http://localhost:1' }, { hostname: 'localhost' }, { protocol: 'ftp:', hostname: 'a' },
    { hostname: 'localhost', protocol: 'http:', port: 'x' }, { hostname: 7, protocol: 'http:' }, {}, null, 7, 'http://localhost', 'nothing'),
  'a request by parts of a URL': async ({ Client }, t) => {
    const server = await t.serve(hello)
    const client = t.own(new Client({ hostname: 'localhost', protocol: 'http:', port: server.port }))
    t.log('client')(await (await client.request(GET)).body.text())
  },
  'pipelining of true': async ({ Client }, t) => {
    const server = await t.serve(hello)
    const client = t.own(new Client(server.url, { pipelining: true }))
    t.log('client')(await (await client.request(GET)).body.text())
  },
  'a dispatcher in the options of a method': asked({ dispatcher: {} }),
  'stats of a Pool': async ({ Pool }, t) => {
    const log = t.log('client')
    const server = await t.serve(() => {})
    const pool = t.own(new Pool(server.url, { connections: 1 }))
    const displayed = () => { const { connected, pending, running, size } = pool.stats; log(connected, pending, running, size) }
    displayed()
    pool.request(GET).catch(() => {})
    await new Promise(resolve => { server.server.once('request', resolve) })
    displayed()
  },
  'stats of an Agent': async ({ Agent }, t) => {
    const log = t.log('client')
    const server = await t.serve(() => {})
    const agent = t.own(new Agent())
    agent.request({ ...GET, origin: server.url }).catch(() => {})
    await new Promise(resolve => { server.server.once('request', resolve) })
    const { connected, pending, running, size } = agent.stats[server.url]
    log(connected, pending, running, size)
  }
}
for (const pipelining of [1, 2, 4]) {
  for (const blocking of [true, false]) {
    programs[`stats of a Client, pipelining ${pipelining}, ${blocking ? 'blocking' : 'not blocking'}`] = async ({ Client }, t) => {
      const log = t.log('client')
      const server = await t.serve(() => {})
      const client = t.own(new Client(server.url, { pipelining }))
      const displayed = () => { const { connected, pending, running, size } = client.stats; log(connected, pending, running, size) }
      displayed()
      for (let round = 0; round < 3; round++) client.request({ ...GET, blocking }).catch(() => {})
      displayed()
      await new Promise(resolve => { server.server.once('request', resolve) })
      displayed()
    }
  }
}
export default programs

// Events of dispatchers and their statistics: which come, in which order with the calls, and with which errors.
const EVENTS = ['connect', 'disconnect', 'connectionError', 'drain']
const MAKE = {
  Client: ({ Client }, url) => new Client(url),
  Pool: ({ Pool }, url) => new Pool(url),
  Agent: ({ Agent }) => new Agent()
}

/** Logs all events of a dispatcher; resolves with the first `last`. */
function logged (dispatcher, log, last) {
  return new Promise(resolve => {
    for (const event of EVENTS) {
      dispatcher.on(event, (origin, targets, error) => {
        log(event, targets.length, targets[0] === dispatcher, error?.name ?? '', error?.code ?? '')
        if (event === last) resolve()
      })
    }
  })
}

const ended = (make, end) => async (module, t) => {
  const log = t.log('client')
  const server = await t.serve((request, response) => { response.end('x') })
  const dispatcher = t.own(make(module, server.url))
  const gone = logged(dispatcher, log, 'disconnect')
  const { body } = await dispatcher.request({ origin: server.url, path: '/', method: 'GET' })
  log(await body.text())
  await end(dispatcher)
  await gone
}

const programs = {}
for (const [name, make] of Object.entries(MAKE)) {
  programs[`${name}: close`] = ended(make, dispatcher => dispatcher.close())
  programs[`${name}: destroy`] = ended(make, dispatcher => dispatcher.destroy())
  programs[`${name}: destroy with an error`] = ended(make, dispatcher => dispatcher.destroy(new RangeError('mine')))
  for (const [label, url] of Object.entries({ 'a port that is closed': 'http://127.0.0.1:1', 'a name that there is not': 'http://nowhere.invalid' })) {
    programs[`${name}: ${label}`] = async (module, t) => {
      const log = t.log('client')
      const dispatcher = t.own(make(module, url))
      void logged(dispatcher, log)
      const { code, syscall, address, hostname, port, errno, message } = await dispatcher.request({ origin: url, path: '/', method: 'GET' }).catch(error => error)
      log(code, syscall, address, hostname, port, errno, message)
    }
  }
  programs[`${name}: a Unix socket that there is not`] = async (module, t) => {
    const log = t.log('client')
    const dispatcher = t.own(new module[name](...name === 'Agent' ? [] : ['http://localhost'], { connect: { socketPath: '/nowhere/socket' } }))
    void logged(dispatcher, log)
    const { code, syscall, address, port, errno, message } = await dispatcher.request({ origin: 'http://localhost', path: '/', method: 'GET' }).catch(error => error)
    log(code, syscall, address, port, errno, message)
  }
  programs[`${name}: statistics`] = async (module, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.end('x') })
    const dispatcher = t.own(make(module, server.url))
    const of = () => { const { pending, running, size } = name === 'Agent' ? dispatcher.stats[server.url] ?? {} : dispatcher.stats; return [pending, running, size] }
    const all = [1, 2, 3].map(() => dispatcher.request({ origin: server.url, path: '/', method: 'GET' }).then(({ body }) => body.text()))
    log(name === 'Client' ? of().join(' ') : of()[2])
    await Promise.all(all)
    log(of().join(' '))
  }
}
export default programs

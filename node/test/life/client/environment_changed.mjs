// Dispatchers in use while the program sets and deletes the variable by which nothing is verified.
import { Agent, Client, EnvHttpProxyAgent, fetch, Pool, ProxyAgent } from 'trunkline'
import { cert } from '../../support/certificates/certificate.mjs'
import { proxy } from '../../support/servers/proxy.mjs'
import { h1s, h2 } from '../../support/servers/servers.mjs'

process.removeAllListeners('warning')
const NAME = 'NODE_TLS_REJECT_UNAUTHORIZED'
const set = () => { process.env[NAME] = '0' }
const remove = () => { delete process.env[NAME] }

const held = []
const answer = (request, response) => {
  if (request.url === '/held') {
    response.write('begun ')
    held.push(response)
  } else {
    response.end('ok')
  }
}
const servers = { h1: await h1s(answer), h2: await h2(answer) }
const { url: uri } = await proxy({ secure: true })

const kinds = {
  Agent: () => new Agent(),
  Pool: url => new Pool(url),
  Client: url => new Client(url),
  ProxyAgent: () => new ProxyAgent({ uri }),
  EnvHttpProxyAgent: () => new EnvHttpProxyAgent({ httpsProxy: uri, proxyTls: { ca: cert } }),
  'Agent that verifies': () => new Agent({ connect: { rejectUnauthorized: true } }),
  'Agent that does not': () => new Agent({ connect: { rejectUnauthorized: false } })
}
const why = error => /CERT|SIGNED|VERIFY/.test(error.code ?? error.cause?.code) ? 'refused' : error.code
for (const [version, { url }] of Object.entries(servers)) {
  for (const [kind, make] of Object.entries(kinds)) {
    const dispatcher = make(url)
    const events = []
    for (const event of ['connect', 'disconnect']) dispatcher.on(event, () => { events.push(event) })
    const ask = path => dispatcher.request({ origin: url, path, method: 'GET' })
    const printed = []
    const note = async () => { printed.push(await ask('/').then(({ statusCode, body }) => body.text().then(() => statusCode), why)) }
    set()
    await note()
    const under = kind.includes('verifies') ? null : await ask('/held')
    remove()
    await note()
    await note()
    await fetch(url, { dispatcher }).then(response => { printed.push(response.status) }, error => { printed.push(why(error)) })
    if (under !== null) {
      held.pop().end('and ended')
      printed.push(await under.body.text())
    }
    set()
    await note()
    remove()
    await note()
    await dispatcher.close()
    console.log(version, kind, ...printed, events.filter(event => event === 'connect').length === events.filter(event => event === 'disconnect').length ? 'all disconnected' : events)
  }
}
for (const [kind, make] of Object.entries(kinds)) {
  const dispatcher = make(servers.h1.url)
  const printed = []
  for (const change of [remove, set]) {
    change()
    printed.push(await dispatcher.request({ origin: servers.h1.url, path: '/', method: 'GET' }).then(({ statusCode, body }) => body.text().then(() => statusCode), why))
  }
  await dispatcher.destroy()
  console.log('verified at first:', kind, ...printed)
}
process.exit(0)

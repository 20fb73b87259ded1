// Dispatchers that are made before the program sets or deletes the variable by which nothing is verified; then the warnings.
import { Agent, Client, EnvHttpProxyAgent, Pool, ProxyAgent } from 'trunkline'
import { proxy } from '../../support/servers/proxy.mjs'
import { h1s } from '../../support/servers/servers.mjs'

const warnings = []
process.removeAllListeners('warning')
process.on('warning', warning => { warnings.push(warning.message) })

const secure = await h1s((request, response) => { response.end() })
const { url: uri } = await proxy({ secure: true })

const made = () => ({
  Agent: new Agent(),
  Pool: new Pool(secure.url),
  Client: new Client(secure.url),
  ProxyAgent: new ProxyAgent({ uri }),
  EnvHttpProxyAgent: new EnvHttpProxyAgent({ httpsProxy: uri, proxyTls: { rejectUnauthorized: false } }),
  'Agent that verifies': new Agent({ connect: { rejectUnauthorized: true } })
})

async function ask (label, dispatchers) {
  for (const [name, dispatcher] of Object.entries(dispatchers)) {
    dispatcher.on('connect', () => { console.log(label, name, 'connected') })
    const printed = await dispatcher.request({ origin: secure.url, path: '/', method: 'GET' }).then(({ statusCode, body }) => body.dump().then(() => statusCode), error => /CERT|SIGNED|VERIFY/.test(error.code) ? 'refused' : error.code)
    console.log(label, name, printed)
    await dispatcher.close()
  }
}

const before = made()
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
await ask('set later:', before)
const within = made()
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
await ask('deleted later:', within)
for (const warning of warnings) console.log('warning', warning)
process.exit(0)

// Dispatchers that are made before the program sets or deletes the variable by which nothing is verified; then the warnings.
import { once } from 'node:events'
import https from 'node:https'
import net from 'node:net'
import { Agent, Client, EnvHttpProxyAgent, Pool, ProxyAgent } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'
import { h1s } from '../../support/servers/servers.mjs'

const warnings = []
process.removeAllListeners('warning')
process.on('warning', warning => { warnings.push(warning.message) })

const secure = await h1s((request, response) => { response.end() })
const proxy = https.createServer({ cert, key }).on('connect', (request, socket, head) => {
  const under = net.connect(new URL(`http://${request.url}`).port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    under.write(head)
    under.pipe(socket).pipe(under)
  })
  for (const end of [under, socket]) end.on('error', () => {})
})
proxy.listen(0, '127.0.0.1')
await once(proxy, 'listening')
const uri = `https://localhost:${proxy.address().port}`

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

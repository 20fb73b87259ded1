// Requests by dispatchers that say nothing of verification, and by one that asks for it; then the warnings.
import { Agent, Client } from 'trunkline'
import { h1, h1s } from '../../support/servers/servers.mjs'

const warnings = []
process.removeAllListeners('warning')
process.on('warning', warning => { warnings.push(warning.message) })

const hello = (request, response) => { response.end() }
const [clear, secure] = await Promise.all([h1(hello), h1s(hello)])

async function ask (label, dispatcher, origin) {
  const printed = await dispatcher.request({ origin, path: '/', method: 'GET' }).then(({ statusCode, body }) => body.dump().then(() => statusCode), error => /CERT|SIGNED|VERIFY/.test(error.code) ? 'DEPTH' : error.code)
  console.log(label, printed)
  await dispatcher.close()
}

await ask('http', new Agent(), clear.url)
await ask('https', new Agent(), secure.url)
await ask('https', new Client(secure.url), secure.url)
await ask('explicit', new Client(secure.url, { connect: { rejectUnauthorized: true } }), secure.url)
for (const warning of warnings) console.log('warning', warning)
process.exit(0)

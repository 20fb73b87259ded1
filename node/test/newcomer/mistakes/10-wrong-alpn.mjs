// A client and a server that have no version of HTTP in common.
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { Agent, createSecureServer, request } from 'trunkline'
import { mistake } from './print.mjs'

const tls = { cert: readFileSync('cert.pem'), key: readFileSync('key.pem') }
const server = createSecureServer(tls, (_, response) => response.end('hello')).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `https://localhost:${server.address().port}/`
const connect = { ca: tls.cert }
await mistake(() => request(url, { dispatcher: new Agent({ connect, allowH2: false }) }))
await mistake(() => request(url, { dispatcher: new Agent({ connect, http3: 'only' }) }))
server.close()

// `http:` to a port of TLS, and `https:` to one without.
import { request, Response, serve } from 'trunkline'
import { mistake } from './print.mjs'

const fetch = () => new Response('hello')
const options = { port: 0, hostname: '127.0.0.1', fetch }
const [secure, clear] = [serve({ ...options, tls: 'self-signed' }), serve(options)]
await mistake(() => request(`http://127.0.0.1:${secure.port}/`))
await mistake(() => request(`https://127.0.0.1:${clear.port}/`))
await secure.stop(true)
await clear.stop(true)

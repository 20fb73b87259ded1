// An engine that ends under its servers.
import http2 from 'node:http2'
import { Response, serve } from 'trunkline'
import { placeOf } from '../../../dist/channel/place.js'
import { theBridge } from '../../../dist/channel/ring.js'
import { Listener } from '../../../dist/server/listener.js'

process.on('uncaughtException', error => { console.log('uncaught', error.message) })
const first = new Listener({ onRequest () {}, onClosed () { throw new Error('of the first server') } })
first.listen({ host: '127.0.0.1' })
let come
const asked = new Promise(resolve => { come = resolve })
const server = serve({
  hostname: '127.0.0.1',
  fetch (request) {
    request.signal.addEventListener('abort', () => console.log('aborted'))
    come()
    return new Promise(() => {})
  }
})
const session = http2.connect(server.url)
// Where it stands still, this is what is known of it.
session.on('error', ({ message }) => { console.error('session:', message) })
const stream = session.request({})
stream.on('error', ({ message }) => { console.error('stream:', message) })
await asked
console.error('asked')
// A debug build of the addon panics over a code that the channel does not have.
const bridge = theBridge(placeOf(undefined) === 'threads' ? 'threads' : 'inline')
bridge.submitEntry(() => { bridge.entry(200, 0, 0, 0, 0, 0, 0, 0) })
await server.closed
console.log('closed')
try {
  serve({ hostname: '127.0.0.1', fetch: () => new Response('') })
} catch (error) {
  console.log(error.code)
}
session.destroy()

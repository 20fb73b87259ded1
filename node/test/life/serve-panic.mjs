// An engine that ends under its servers.
import http2 from 'node:http2'
import { Response, serve } from 'trunkline'
import { theBorder } from '../../dist/ring.js'

const server = serve({
  hostname: '127.0.0.1',
  fetch (request) {
    request.signal.addEventListener('abort', () => console.log('aborted'))
    return new Promise(() => {})
  }
})
const session = http2.connect(server.url)
session.on('error', () => {})
const stream = session.request({})
stream.on('error', () => {})
await new Promise(resolve => setTimeout(resolve, 100))
// A debug build of the addon panics over a verb that the border does not have.
theBorder().command(200, 0, 0)
await server.closed
console.log('closed')
try {
  serve({ hostname: '127.0.0.1', fetch: () => new Response('') })
} catch (error) {
  console.log(error.code)
}
session.destroy()

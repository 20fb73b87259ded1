import { createServer } from 'node:http'
import { once } from 'node:events'
import { Agent, request } from 'trunkline'
import { theBridge } from '../../../dist/channel/ring.js'

const server = createServer((request, response) => {
  if (request.url === '/half') response.write('half')
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const dispatcher = new Agent({ connections: 2 })
const url = `http://127.0.0.1:${server.address().port}`
const codeOf = promise => promise.then(() => 'settled', error => error.code)

const half = (await request(`${url}/half`, { dispatcher })).body.text()
const arrived = once(server, 'request')
const silent = request(`${url}/silent`, { dispatcher })
const queued = request(`${url}/queued`, { dispatcher })
await arrived
// A debug build of the addon panics over a code that the channel does not have.
theBridge().submitEntry(() => { theBridge().entry(200, 0, 0, 0, 0, 0, 0, 0) })
console.log(...await Promise.all([half, silent, queued].map(codeOf)))
console.log(await codeOf(request(url, { dispatcher })), await codeOf(dispatcher.request({ origin: url, path: '/' })))
const dispatched = new Promise((resolve, reject) => {
  dispatcher.dispatch({ origin: url, path: '/', method: 'POST', body: (async function * () { yield 'x' })() }, {
    onRequestStart () {},
    onResponseStart () {},
    onResponseData () {},
    onResponseEnd: resolve,
    onResponseError: (_, error) => { reject(error) }
  })
})
console.log(await codeOf(dispatched), await codeOf(dispatcher.warmUp(url)))
await dispatcher.close()
server.close()
server.closeAllConnections()

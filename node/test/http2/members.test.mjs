// Programs put members of their own on the objects that they get: a counter on a socket, a timer on a session, `status` on a
// response. No name that is free on an object of node's is taken on one of ours.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import nodeHttp2 from 'node:http2'
import { test } from 'node:test'
import { cert, key } from '../support/certificates/certificate.mjs'
import http2 from 'trunkline/http2'

/** Names of members that node's objects do not have. */
const isOwn = name => name.startsWith('$')
/** Names of node's internals, by some of which middleware of node:http works. */
const isInternal = name => name.startsWith('_')
/** The names of an object's members, of its own and inherited. */
function namesOf (object) {
  const names = new Set()
  for (let at = object; at !== null; at = Object.getPrototypeOf(at)) for (const name of Object.getOwnPropertyNames(at)) names.add(name)
  return names
}

/** The objects of one exchange between `server` and its client, by what they are. */
async function objectsOf (server, connect) {
  const objects = {}
  const put = (what, object) => { objects[what] = new Set([...objects[what] ?? [], ...namesOf(object)]) }
  server.on('connection', socket => { put('socket', socket) })
  server.on('secureConnection', socket => { put('socket', socket) })
  server.on('session', session => { put('session', session) })
  server.on('request', (request, response) => {
    request.resume().on('end', () => {
      response.end('answer')
      put('request', request)
      put('response', response)
      put('stream', response.stream)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect(server.address().port)
  await once(client, 'connect')
  const stream = client.request({ ':method': 'POST' })
  stream.resume().end('question')
  await once(stream, 'close')
  put('clientSession', client)
  put('clientStream', stream)
  client.close()
  server.close()
  await once(server, 'close')
  return objects
}

const OF_HTTP = { cert, key }
for (const [label, isSecure] of [['in cleartext', false], ['under TLS', true]]) {
  const run = module => objectsOf(isSecure ? module.createSecureServer(OF_HTTP) : module.createServer(), port => module.connect(`http${isSecure ? 's' : ''}://localhost:${port}`, { ca: cert, family: 4 }))
  test(`objects of node:http2 ${label} have no name taken that is free on node's`, async () => {
    const theirs = await run(nodeHttp2)
    const ours = await run(http2)
    for (const [what, names] of Object.entries(ours)) {
      const taken = [...names].filter(name => !isOwn(name) && !isInternal(name) && !theirs[what].has(name))
      assert.deepEqual(taken, [], what)
    }
  })
}

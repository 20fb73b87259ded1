// Dispatchers that have listeners and an open connection, and that the program keeps no reference to: they are not
// collected before their connections end, whose events they report, and are collected afterwards.
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent, Client, Pool } from 'trunkline'
import { h1 } from '../../support/servers/servers.mjs'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
/** Far more than collect a dispatcher without listeners. */
const COLLECTIONS = 20
// Neither a server of the tests nor an idle dispatcher holds the process.
setInterval(() => {}, 60_000)
const server = await h1((request, response) => { response.end('hello') })
const sockets = new Set()
server.server.on('connection', socket => { sockets.add(socket) })
const left = []
const reported = []
const ended = []

async function use (name, dispatcher) {
  ended.push(new Promise(resolve => {
    dispatcher.on('disconnect', () => {
      reported.push(name)
      resolve()
    })
  }))
  const { body } = await dispatcher.request({ origin: server.url, path: '/', method: 'GET' })
  await body.text()
  left.push(new WeakRef(dispatcher))
}

async function collections () {
  // An object that was looked at lives until the end of its turn.
  await turn()
  collect()
  await turn()
}

await use('Agent', new Agent())
await use('Client', new Client(server.url))
await use('Pool', new Pool(server.url))
for (let round = 0; round < COLLECTIONS; round++) await collections()
const kept = left.filter(one => one.deref() !== undefined).length
for (const socket of sockets) socket.destroy()
await Promise.all(ended)
// A dispatcher that is never collected is reported by the time limit of the test. The last one may be held by the
// variables of the functions above.
while (left.filter(one => one.deref() !== undefined).length > 1) await collections()
console.log(`kept ${kept}, reported ${reported.sort().join(' ')}, collected`)
process.exit(0)

// Dispatchers that were used and dropped without close(): how many of them are left, and which of their
// connections, once the garbage is collected.
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent, Client } from 'trunkline'
import { h1 } from '../../support/servers/servers.mjs'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
const COUNT = 20
const server = await h1((request, response) => { response.end('hello') })
const left = []
let tunnel
server.server.on('upgrade', (request, socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
  socket.pipe(socket)
})

async function use () {
  for (let round = 0; round < COUNT; round++) {
    const dispatcher = round % 2 === 0 ? new Agent() : new Client(server.url)
    const { body } = await dispatcher.request({ origin: server.url, path: '/', method: 'GET' })
    await body.text()
    left.push(new WeakRef(dispatcher))
  }
  // A request under way holds its dispatcher.
  const { socket } = await new Client(server.url).upgrade({ path: '/', protocol: 'x' })
  tunnel = socket
}

await use()
const alive = () => left.filter(one => one.deref() !== undefined).length
// An answer that never comes is ended by the time limit of the test.
while (alive() > 1 || server.counts.open > 2) {
  // A dereferenced object stays for the turn.
  await turn()
  collect()
  await turn()
}
tunnel.write('still')
const [piece] = await once(tunnel, 'data')
console.log('collected, closed,', String(piece))
process.exit(0)

// Servers of both forms on every version, in a process of its own that its parent asks how it is.
// Messages: `ports`, then to `look` what it holds, to `close` its end, to `exit` none.
import { readdirSync } from 'node:fs'
import { setTimeout as rest } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { theBridge } from '../../dist/channel/ring.js'
import { faces } from '../server/behaviour/faces.mjs'
import { versions } from '../support/clients/clients.mjs'

/** How long an answer waits that a gate holds back elsewhere. */
const GATE_MS = 20
/** Connections of clients that are gone end meanwhile, also those of HTTP/1.1 that `halfClosed` waits for, and
 * those of HTTP/3 whose last word was lost: they are idle for a minute. */
const REST_MS_MAX = 90_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

/** No log is kept. */
const notes = {
  report () {},
  count () {},
  counted: () => 0,
  until: () => new Promise(() => {}),
  gate: () => ({ promise: rest(GATE_MS), open () {} })
}

const fds = () => readdirSync('/proc/self/fd').length
const servers = {}
for (const face of ['compat', 'serve', 'core']) {
  for (const version of versions.filter(({ protocol }) => face !== 'core' || protocol !== 'http/1.1')) {
    servers[`${face} ${version.name}`] = await faces[face].make(version, notes)
  }
}
const bridge = theBridge()
const before = fds()
process.send({ ports: Object.fromEntries(Object.entries(servers).map(([name, { port }]) => [name, port])) })

/** The memory once all clients are gone. */
async function look () {
  const { exchanges, connections } = bridge.servers
  for (const end = performance.now() + REST_MS_MAX; performance.now() < end && connections.size > 0;) await rest(50)
  for (let round = 0; round < 4; round++) {
    collect()
    await rest(50)
  }
  return {
    connections: connections.size,
    versions: [...connections.values()].map(({ version }) => version),
    exchanges: exchanges.filter(Boolean).length,
    backlog: bridge.backlog.length,
    files: fds() - before,
    MiB: process.memoryUsage.rss() / 2 ** 20,
    heapMiB: process.memoryUsage().heapUsed / 2 ** 20
  }
}

let isClosed = false
process.on('message', async word => {
  if (word === 'look') process.send(await look())
  else if (word === 'exit') process.exit(7)
  else {
    await Promise.all(Object.values(servers).map(server => server.end()))
    isClosed = true
    process.send('closed')
    // Nothing else may hold the process.
    process.disconnect()
  }
})
// A parent that is gone has no more use for it.
process.once('disconnect', () => { if (!isClosed) process.exit(1) })

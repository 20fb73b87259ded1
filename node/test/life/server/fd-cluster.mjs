// A cluster whose workers share the third descriptor of their primary, and a path. The arguments:
// the port of the descriptor, and the path. Says what the workers say, and who answers when one is gone.
import cluster from 'node:cluster'
import { once } from 'node:events'
import http from 'node:http'
import { createServer } from 'trunkline'

const [port, path] = process.argv.slice(2)

/** The outcome of a server that listens there. */
async function received (place) {
  const server = createServer((request, response) => { response.end(String(cluster.worker.id)) })
  const failed = new Promise(resolve => { server.on('error', error => { resolve(error.code) }) })
  server.listen(place)
  return await Promise.race([once(server, 'listening').then(() => 'listening'), failed])
}

async function ask () {
  const [answer] = await once(http.get({ port, host: '127.0.0.1', agent: false }), 'response')
  return Buffer.concat(await answer.toArray()).toString()
}

if (cluster.isPrimary) {
  cluster.setupPrimary({ stdio: ['ignore', 'inherit', 'inherit', 'ipc', 3] })
  for (const id of [1, 2]) {
    const [printed] = await once(cluster.fork(), 'message')
    console.log(id, ...printed)
  }
  const first = await ask()
  const { process: gone } = cluster.workers[first]
  gone.kill('SIGKILL')
  await once(cluster, 'exit')
  const second = await ask()
  console.log([first, second].sort().join(' '))
  cluster.workers[second].process.kill('SIGKILL')
} else {
  process.send([await received({ fd: 4 }), await received({ path })])
}

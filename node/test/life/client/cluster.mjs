// Processes that were forked while the engine ran in their parent: each has an engine of its own.
import cluster from 'node:cluster'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'trunkline'

const dispatcher = new Agent({ connections: 4 })
const ask = async url => { await (await request(url, { dispatcher })).body.text() }
const asks = (url, count) => Promise.all(Array.from({ length: count }, () => ask(url)))
const self = fileURLToPath(import.meta.url)

if (process.send !== undefined) {
  const { url, lasts } = JSON.parse(process.argv[2])
  await asks(url, 100)
  process.send('asked')
  if (lasts) for (;;) await asks(url, 20)
  // Only its channel to the parent keeps a worker alive now.
  process.disconnect()
} else {
  const server = createServer((request, response) => { response.end('x'.repeat(2000)) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}/`
  await asks(url, 50)
  const reported = lasts => [JSON.stringify({ url, lasts })]
  cluster.setupPrimary({ exec: self, args: reported(false) })
  const ending = [cluster.fork().process, cluster.fork().process, fork(self, reported(false))]
  cluster.setupPrimary({ exec: self, args: reported(true) })
  const killed = [cluster.fork().process, fork(self, reported(true))]
  const exits = [...ending, ...killed].map(child => once(child, 'exit'))
  await Promise.all([...ending, ...killed].map(child => once(child, 'message', { signal: AbortSignal.timeout(60_000) })))
  await asks(url, 50)
  for (const child of killed) child.kill('SIGKILL')
  const ends = await Promise.all(exits)
  console.log(ends.map(([code, signal]) => signal ?? code).join(' '))
  await asks(url, 50)
  await dispatcher.close()
  server.close()
  server.closeAllConnections()
}

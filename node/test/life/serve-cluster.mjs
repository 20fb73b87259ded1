// Processes of a cluster that share a port.
import cluster from 'node:cluster'
import { once } from 'node:events'
import http from 'node:http'
import { Response, serve } from 'trunkline'

const ask = port => new Promise((resolve, reject) => {
  http.get({ port, host: '127.0.0.1', agent: false }, response => {
    let text = ''
    response.on('data', chunk => { text += chunk }).on('end', () => resolve(text))
  }).on('error', reject)
})

if (cluster.isPrimary) {
  const probe = serve({ hostname: '127.0.0.1', sharesPort: true, fetch: () => new Response('') })
  const { port } = probe
  const workers = [cluster.fork({ PORT: port }), cluster.fork({ PORT: port })]
  await Promise.all(workers.map(worker => once(worker, 'message')))
  await probe.destroy()
  const who = new Set()
  while (who.size < 2) who.add(await ask(port))
  console.log(`${who.size} processes serve`)
  for (const worker of workers) worker.send('end')
  await Promise.all(workers.map(worker => once(worker, 'exit')))
} else {
  const server = serve({ hostname: '127.0.0.1', port: Number(process.env.PORT), sharesPort: true, fetch: () => new Response(`${process.pid}`) })
  process.send('serving')
  process.once('message', async () => {
    await server.close()
    process.disconnect()
  })
}

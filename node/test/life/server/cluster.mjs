// Processes of a cluster that share a port. serve-cluster.mjs FORM
import cluster from 'node:cluster'
import { once } from 'node:events'
import { ask, named } from './shared.mjs'

const form = process.argv[2]
if (cluster.isPrimary) {
  const probe = await named(form, 'probe')
  const { port } = probe
  const workers = [cluster.fork({ PORT: port }), cluster.fork({ PORT: port })]
  await Promise.all(workers.map(worker => once(worker, 'message')))
  await probe.end()
  const who = new Set()
  // The kernel spreads connections; some hundreds of them reach every worker.
  while (who.size < 2) who.add(await ask(form, port))
  console.log(`${who.size} processes serve`)
  // One goes; the other takes all that comes from then on.
  const [first, second] = workers
  first.send('end')
  await once(first, 'exit')
  for (let round = 0; round < 20; round++) if (await ask(form, port) !== `${second.process.pid}`) console.log('somebody else answered')
  second.send('end')
  await once(second, 'exit')
} else {
  const server = await named(form, `${process.pid}`, Number(process.env.PORT))
  process.send('serving')
  process.once('message', async () => {
    await server.end()
    process.disconnect()
  })
}

// A server that ends as pm2 asks for: it closes, and its process ends with its last answer. A worker of a cluster leaves it before, because
// connections that its primary has on the way to it have to be given back.
const cluster = require('node:cluster')

const end = () => { cluster.isWorker ? cluster.worker.disconnect() : process.exit(0) }
const { SIDE, PORT } = process.env
const answer = `worker ${process.pid}`
if (SIDE === 'serve') {
  const { Response, serve } = require('trunkline')
  const server = serve({ port: Number(PORT), hostname: '127.0.0.1', fetch: () => new Response(answer) })
  process.on('SIGINT', () => { server.close().then(end) })
} else {
  const { createServer } = SIDE === 'own' ? require('node:http') : require('trunkline')
  const server = createServer((request, response) => { response.end(answer) })
  server.listen(Number(PORT), '127.0.0.1')
  process.on('SIGINT', () => { server.close(end) })
}

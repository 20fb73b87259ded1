// A server that answers and ends its process in the same turn, and a client of another process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import { createServer } from 'trunkline'

const BYTES = 60_000

if (process.argv[2] === 'serve') {
  const server = createServer((request, response) => {
    response.end('x'.repeat(BYTES))
    process.exit(7)
  })
  server.listen(0, '127.0.0.1', () => { console.log(server.address().port) })
} else {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'serve'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const over = once(child, 'exit')
  const [port] = await once(child.stdout, 'data')
  const [response] = await once(http.get({ host: '127.0.0.1', port: Number(port), agent: false }), 'response')
  let bytes = 0
  for await (const piece of response) bytes += piece.length
  console.log(bytes, (await over)[0])
}

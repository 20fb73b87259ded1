// A server on the third descriptor of its process, a port that is the first argument: whether it says so, how it
// answers, and what is left of the descriptor behind it.
import { fstatSync } from 'node:fs'
import { request, serve } from 'trunkline'

const port = Number(process.argv[2])
const server = serve({ fd: 3, fetch: asked => new Response(`${asked.method} ${new URL(asked.url).pathname}`) })
console.log(server.port === port, server.url.href === `http://127.0.0.1:${port}/`)
const { statusCode, body } = await request(server.url)
console.log(statusCode, await body.text())
const { ino } = fstatSync(3)
await server.close()
let now
try {
  now = fstatSync(3).ino
} catch {}
console.log(now === ino ? 'still open' : 'closed')

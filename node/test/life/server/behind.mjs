// A server whose JavaScript stands still while clients go on: what it has not read stays with them.
// serve-behind.mjs | serve-behind.mjs churn PORT | serve-behind.mjs uploads PORT
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import http2 from 'node:http2'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as rest } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The connections opened and closed unattended: enough for a leak to show. */
const CONNECTIONS = 8000
const HEAD_BYTES = 16 * 1024
/** A server that accepts no connection for this long is stuck. */
const STUCK_MS = 1500
/** Requests of them that may be read meanwhile: what is read reaches the handler afterwards. */
const READ_MAX = 2000
const UPLOADS = 40
const UPLOAD_BYTES = 1024 * 1024

const [role, port] = process.argv.slice(2)
const own = fileURLToPath(import.meta.url)

if (role === 'churn') await churn()
else if (role === 'uploads') await uploads()
else await serving()

/** Connections that ask once and go away. */
async function churn () {
  let [begun, alive] = [0, Date.now()]
  const head = `GET / HTTP/1.1\r\nhost: a\r\nx-long: ${'x'.repeat(HEAD_BYTES)}\r\n\r\n`
  const one = async () => {
    while (begun++ < CONNECTIONS) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'connect')
      alive = Date.now()
      socket.write(head)
      await rest(5)
      socket.destroy()
    }
  }
  setInterval(() => { if (Date.now() - alive > STUCK_MS) process.exit() }, 100)
  await Promise.all(Array.from({ length: 50 }, one))
  process.exit()
}

/** Uploads one after another on a few connections; says when the first is answered, and all answers. */
async function uploads () {
  const sessions = Array.from({ length: 4 }, () => http2.connect(`http://127.0.0.1:${port}`))
  const body = Buffer.alloc(UPLOAD_BYTES)
  let left = UPLOADS
  const answers = new Map()
  const one = async session => {
    while (left-- > 0) {
      const stream = session.request({ ':method': 'POST', ':path': '/' })
      stream.end(body)
      let printed = ''
      for await (const chunk of stream) printed += chunk
      if (answers.size === 0) console.log('begun')
      answers.set(printed, (answers.get(printed) ?? 0) + 1)
    }
  }
  await Promise.all(sessions.flatMap(session => [one(session), one(session)]))
  for (const session of sessions) session.close()
  console.log(JSON.stringify([...answers]))
}

async function serving () {
  const { Response, serve } = await import('trunkline')
  let read = 0
  const server = serve({
    hostname: '127.0.0.1',
    fetch: async request => {
      if (request.headers.has('x-long')) read++
      return new Response(String((await request.bytes()).length))
    }
  })
  const uploader = spawn(process.execPath, [own, 'uploads', String(server.port)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const printed = createInterface(uploader.stdout)[Symbol.asyncIterator]()
  await printed.next()
  // JavaScript of this process stands still until the child ends.
  execFileSync(process.execPath, [own, 'churn', String(server.port)])
  const { value } = await printed.next()
  console.log(read < READ_MAX ? 'little is held' : `${read} requests are held`)
  console.log(value)
  await server.close({ deadlineMs: 5000 })
  console.log('closed')
}

// The client to be attacked: asks a good origin every 10 ms, and meanwhile does one thing with a
// hostile one, which may take 5 s. Part of `make attacks`.
// node client.mjs h1|h2|h3 GOOD_URL HOSTILE_URL get|unread|post|crowd|decode
// Prints the outcome of the hostile exchange in a line, and when its standard input ends the 99th
// percentile of the good ones in microseconds, with their count.
import { setMaxListeners } from 'node:events'
import { setTimeout as rest } from 'node:timers/promises'
import { Agent, fetchOver, request } from '../../dist/index.js'

const TOTAL_MS = 5_000
const CROWD = 100
const UPLOAD_BYTES = 8 << 20

const [version, good, hostile, kind] = process.argv.slice(2)
const versions = { h1: { allowH2: false }, h2: { useH2c: true }, h3: { http3: 'only' } }
const dispatcher = new Agent({ ...versions[version], connect: { rejectUnauthorized: false } })

async function lengthOf (body) {
  let bytes = 0
  for await (const piece of body) bytes += piece.length
  return bytes
}

/** The status and the length of an answer. */
async function get (url, signal) {
  const { statusCode, body } = await request(url, { dispatcher, signal })
  return `${statusCode}, ${await lengthOf(body)} bytes`
}

const kinds = {
  get: signal => get(hostile, signal),
  async unread (signal) {
    const { statusCode, body } = await request(hostile, { dispatcher, signal })
    body.on('error', () => {})
    await rest(TOTAL_MS - 500)
    return `${statusCode}, unread`
  },
  async post (signal) {
    const body = Buffer.alloc(UPLOAD_BYTES, 'x')
    return String((await request(hostile, { dispatcher, signal, method: 'POST', body })).statusCode)
  },
  async crowd (signal) {
    setMaxListeners(CROWD, signal)
    const all = Array.from({ length: CROWD }, () => get(hostile, signal).catch(name))
    return [...new Set(await Promise.all(all))].sort().join(', ')
  },
  async decode (signal) {
    const answer = await fetchOver(dispatcher)(hostile, { signal })
    return `${answer.status}, ${await lengthOf(answer.body)} bytes`
  }
}

/** The properties by which a program identifies an error. */
function name (error) {
  const cause = error.cause ?? error
  return typeof cause.code === 'string' ? cause.code : String(cause.name)
}

let over = false
process.stdin.on('end', () => { over = true }).resume()
kinds[kind](AbortSignal.timeout(TOTAL_MS)).catch(name).then(outcome => { console.log(outcome) })

const times = []
while (!over) {
  const began = performance.now()
  const outcome = await get(good).catch(error => `the good origin: ${error}`)
  if (!outcome.startsWith('200')) console.error(outcome)
  times.push(outcome.startsWith('200') ? performance.now() - began : 1e6)
  await rest(10)
}
times.sort((a, b) => a - b)
console.log(Math.round(times[Math.floor(times.length * 0.99)] * 1e3), times.length)
process.exit()

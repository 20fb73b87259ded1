// The client to be attacked: asks a good origin every 10 ms, and meanwhile does one thing with a
// hostile one, which may take ATTACKED_SECONDS. Part of `make attacks`.
// node attacked.mjs h1|h2|h3 GOOD_URL HOSTILE_URL get|unread|post|crowd|decode [streams]
// `streams`: each connection is a stream made in JavaScript, which a connector gives. The output is that of `measure`.
import { setMaxListeners } from 'node:events'
import net from 'node:net'
import { setTimeout as rest } from 'node:timers/promises'
import { Agent, fetchOver, request } from '../../dist/index.js'
import { CROWD, TOTAL_MS, UPLOAD_BYTES, lengthOf, measure, nameOf } from './attacked_beside.mjs'
import { around } from './attacked_streams.mjs'

const [version, good, hostile, kind, form] = process.argv.slice(2)
const versions = { h1: { allowH2: false }, h2: { useH2c: true }, h3: { http3: 'only' } }

function overStream ({ hostname, port }, callback) {
  const socket = net.connect(Number(port), hostname)
  socket.once('connect', () => { callback(null, around(socket)) })
  socket.once('error', error => { callback(error, null) })
}
const connect = form === 'streams' ? overStream : { rejectUnauthorized: false }
const dispatcher = new Agent({ ...versions[version], connect })

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
    const all = Array.from({ length: CROWD }, () => get(hostile, signal).catch(nameOf))
    return [...new Set(await Promise.all(all))].sort().join(', ')
  },
  async decode (signal) {
    const answer = await fetchOver(dispatcher)(hostile, { signal })
    return `${answer.status}, ${await lengthOf(answer.body)} bytes`
  }
}

await measure(kinds[kind], () => get(good))

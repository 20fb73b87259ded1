// As attacked.mjs, with sessions of `connect` of trunkline/http2. Part of `make attacks`.
// node attacked_session.mjs h2 GOOD_URL HOSTILE_URL get|unread|post|crowd
import { setTimeout as rest } from 'node:timers/promises'
import http2 from '../../dist/http2/module.js'
import { CROWD, TOTAL_MS, UPLOAD_BYTES, lengthOf, measure, nameOf } from './attacked_beside.mjs'

const [, good, hostile, kind] = process.argv.slice(2)

/** A session; `failed` is rejected by its error, and by the end of the time. */
function open (url, signal) {
  const session = http2.connect(url)
  const failed = new Promise((resolve, reject) => {
    session.on('error', reject)
    signal?.addEventListener('abort', () => { reject(signal.reason) })
  })
  failed.catch(() => {})
  return { session, failed }
}

/** A request, and the promise of its status. */
function ask (session, headers = {}, body) {
  const stream = session.request({ ':path': '/', ...headers }, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  const status = new Promise((resolve, reject) => {
    stream.on('response', fields => { resolve(fields[':status']) })
    stream.on('error', reject)
    stream.on('close', () => { reject(Object.assign(new Error(), { code: 'closed without a response' })) })
  })
  return { stream, status }
}

async function answer (session) {
  const { stream, status } = ask(session)
  return `${await status}, ${await lengthOf(stream)} bytes`
}

/** The outcome of an exchange, or the error by which its session ends before it. */
async function within (url, signal, exchange) {
  const { session, failed } = open(url, signal)
  try {
    return await Promise.race([exchange(session), failed])
  } finally {
    session.destroy()
  }
}

const kinds = {
  get: signal => within(hostile, signal, answer),
  unread: signal => within(hostile, signal, async session => {
    const status = await ask(session).status
    await rest(TOTAL_MS - 500)
    return `${status}, unread`
  }),
  post: signal => within(hostile, signal, async session =>
    String(await ask(session, { ':method': 'POST' }, Buffer.alloc(UPLOAD_BYTES, 'x')).status)),
  crowd: signal => within(hostile, signal, async session => {
    const all = Array.from({ length: CROWD }, () => answer(session).catch(nameOf))
    return [...new Set(await Promise.all(all))].sort().join(', ')
  })
}

const neighbour = open(good)
await measure(kinds[kind], () => answer(neighbour.session))

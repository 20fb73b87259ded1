// A mixed load on servers of every form and version, with resets, slow readers, GOAWAYs and cuts drawn
// from a seed: what is not cut off is answered, and nothing stays behind in the server's process.
// node server.mjs [--seconds 1800] [--seed N] [--concurrency 40]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as rest } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { clients } from '../server/behaviour/clients.mjs'
import { digest } from '../server/behaviour/sizes.mjs'
import { random } from './requests.mjs'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1800' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    concurrency: { type: 'string', default: '40' }
  }
})
const [seconds, seed, concurrency] = [values.seconds, values.seed, values.concurrency].map(Number)
/** No step takes longer on a busy machine. */
const SETTLED_MS_MAX = 30_000
/** The most that a server may grow after its first fifth, MiB: caches and the heap's holes. */
const GROWTH_MIB_MAX = 48
const WRONG_DISPLAYED_MAX = 20
/** The most steps of a session on the client's side: then it goes away, one way or another. */
const STEPS_PER_CLIENT_MAX = 40
/** How long the load goes on before the server ends in the middle of it. */
const UNDER_LOAD_MS = 1500

const next = random(seed)
const below = most => Math.floor(next() * most)
const pick = list => list[below(list.length)]
const BODY = Buffer.alloc(256 * 1024, 'soak ')
const DIGEST = digest(BODY)

function equal (found, expected, what) {
  if (String(found) !== String(expected)) throw new Error(`${what}: ${String(found).slice(0, 100)}, not ${expected}`)
}

/** A client's behaviours; the first ones must succeed. */
const whole = {
  async five ({ client }) { equal((await client.ask('/five')).body, 'hello', 'five') },
  async upload ({ client }) { equal((await client.ask('/digest', { method: 'POST', body: BODY })).body, DIGEST, 'upload') },
  async echo ({ client }) { equal(digest((await client.ask('/echo', { method: 'POST', body: BODY })).body), DIGEST, 'echo') },
  async trailers ({ client }) { equal((await client.ask('/trailers-after')).trailers['x-sum'], 'after', 'trailers') },
  async hints ({ client }) { equal((await client.ask('/hints')).body, 'styled', 'hints') },
  async unread ({ client }) { equal((await client.ask('/unread', { method: 'POST', body: BODY })).body, BODY.length, 'unread') },
  async rejected ({ client }) { equal((await client.ask('/rejects')).status, 500, 'rejected') },
  async many ({ client }) { for (const { body } of await Promise.all(Array.from({ length: 20 }, () => client.ask('/five')))) equal(body, 'hello', 'many') },
  async 'slow reader' ({ client }) {
    const conversation = client.begin('/slow')
    conversation.end()
    await conversation.head
    let bytes = 0
    for await (const piece of conversation.body) {
      bytes += piece.length
      if (bytes > 1 << 20) break
      await rest(5)
    }
    conversation.abort()
  }
}
const cut = {
  async 'given up before the answer' ({ client }) {
    const conversation = client.begin('/hang', { method: 'POST' })
    conversation.end('a body')
    await rest(below(10))
    conversation.abort()
  },
  async 'given up in the body' ({ client }) {
    const conversation = client.begin('/count', { method: 'POST' })
    void conversation.write(BODY)
    await rest(below(10))
    conversation.abort()
  },
  async 'given up in the answer' ({ client }) {
    const conversation = client.begin('/half')
    conversation.end()
    await conversation.head
    conversation.abort()
  },
  async 'answered early' ({ client }) {
    const conversation = client.begin('/early', { method: 'POST' })
    void conversation.write(BODY)
    equal((await conversation.head).status, 200, 'early')
    conversation.abort()
  },
  async 'broken by the server' ({ client, face }) {
    const conversation = client.begin(face === 'serve' ? '/breaks-while' : pick(['/breaks-before', '/breaks-while']))
    conversation.end()
    await conversation.rest().then(() => { throw new Error('it seems whole') }, () => {})
  }
}

/** How a client goes away. */
const ends = [
  async client => { await client.close() },
  async client => {
    // GOAWAY, and the session ends with its streams; other versions close.
    client.session?.goaway(0)
    client.session?.close()
    await rest(1)
    await client.close()
  },
  async client => {
    // In the middle of an answer.
    const conversation = client.begin('/slow')
    conversation.end()
    await conversation.head.catch(() => {})
    await client.close()
  }
]

const tally = {}
const wrong = []

async function within (promise, what) {
  const late = new AbortController()
  const tooLong = rest(SETTLED_MS_MAX, null, { signal: late.signal }).then(() => { throw new Error(`${what} had not settled after ${SETTLED_MS_MAX / 1000} s`) })
  tooLong.catch(() => {})
  try {
    return await Promise.race([promise, tooLong])
  } finally {
    late.abort()
  }
}

/** One client after another, until `isOver`. `mayFail`: the server ends meanwhile. */
async function loop (ports, isOver, mayFail) {
  while (!isOver() && wrong.length === 0) {
    const name = pick(Object.keys(ports))
    const [face, version] = [name.slice(0, name.indexOf(' ')), name.slice(name.indexOf(' ') + 1)]
    const client = clients[version](ports[name])
    let what = ''
    try {
      for (let step = below(STEPS_PER_CLIENT_MAX); step >= 0 && !isOver(); step--) {
        const kind = below(4) === 0 ? cut : whole
        what = pick(Object.keys(kind))
        await within(kind[what]({ client, face }), what)
        tally[what] = (tally[what] ?? 0) + 1
      }
      what = 'the end of a client'
      await within(pick(ends)(client), what)
    } catch (error) {
      if (!mayFail()) wrong.push(new Error(`${name}: ${what}`, { cause: error }))
      await client.close()
    }
  }
}

const load = (ports, isOver, mayFail = () => false) => Promise.all(Array.from({ length: concurrency }, () => loop(ports, isOver, mayFail)))

async function started () {
  const child = fork(fileURLToPath(new URL('served.mjs', import.meta.url)))
  const [{ ports }] = await once(child, 'message')
  const ask = async word => {
    const answer = once(child, 'message')
    child.send(word)
    return (await answer)[0]
  }
  return { child, ports, ask }
}

/** The load goes on while the server's process ends; how it did. */
async function endUnderLoad (word) {
  const { child, ports } = await started()
  let isOver = false
  let isEnding = false
  const loops = load(ports, () => isOver, () => isEnding)
  await rest(UNDER_LOAD_MS)
  isEnding = true
  const ended = once(child, 'exit')
  child.send(word)
  const [code, signal] = await within(ended, `a server that is to ${word}`)
  isOver = true
  await loops
  return `${code} ${signal}`
}

const start = performance.now()
const passed = () => (performance.now() - start) / 1000
const { child, ports, ask } = await started()
await load(ports, () => passed() > seconds / 5)
const early = await ask('look')
const talking = setInterval(() => {
  console.error(`${passed().toFixed(0)} s: ${Object.values(tally).reduce((sum, each) => sum + each, 0)} steps`)
}, 60_000)
await load(ports, () => passed() > seconds)
clearInterval(talking)
const late = await ask('look')
const ended = once(child, 'exit')
await ask('close')
const [code, signal] = await within(ended, 'a server without work')
const checks = {
  [`connections that are open (versions ${late.versions})`]: [late.connections, 0],
  'exchanges that are open': [late.exchanges, 0],
  'submissions that wait': [late.backlog, 0],
  'files that are open': [Math.max(late.files, 0), 0],
  'MiB grown': [late.MiB - early.MiB, GROWTH_MIB_MAX]
}
for (const [what, [found, most]] of Object.entries(checks)) {
  if (found > most) wrong.push(new Error(`${what}: ${found}, at most ${most}`))
}
if (`${code} ${signal}` !== '0 null') wrong.push(new Error(`the server ended with ${code} ${signal}`))
const outcomes = wrong.length > 0 ? [] : [await endUnderLoad('exit'), await endUnderLoad('close')]
if (wrong.length === 0 && String(outcomes) !== '7 null,0 null') wrong.push(new Error(`servers under load ended with ${outcomes}`))
console.log(`seed ${seed}, ${passed().toFixed(0)} s: ${JSON.stringify(tally)}`)
console.log(`after a fifth ${early.MiB.toFixed(0)} MiB (heap ${early.heapMiB.toFixed(0)}), at the end ${late.MiB.toFixed(0)} (${late.heapMiB.toFixed(0)})`)
for (const error of wrong.slice(0, WRONG_DISPLAYED_MAX)) console.error(error.message, error.cause ?? '')
process.exit(wrong.length > 0 ? 1 : 0)

// Requests whose source fails or whose caller gives them up x requests in front of them on the same connection: what becomes of those in
// front, and of one behind.
import { Readable } from 'node:stream'

const FIRST = {
  GET: { method: 'GET' },
  POST: { method: 'POST', body: 'text' },
  'an idempotent POST': { method: 'POST', body: 'text', idempotent: true },
  'a GET that does not block': { method: 'GET', blocking: false }
}
const failed = () => new Error('of the source')
/** Sources, made anew for each request. */
const SOURCES = {
  'a Readable that fails': () => new Readable({ read () { this.destroy(failed()) } }),
  'an iterable that fails': () => (async function * () { throw failed() })(),
  'an iterable that fails behind a piece': () => (async function * () { yield 'a'; throw failed() })(),
  'a Readable that is too long': () => Readable.from(['much longer than said']),
  'a Readable': () => Readable.from(['8 bytes ']),
  'a text': () => '8 bytes '
}
const METHODS = { POST: {}, PUT: {}, DELETE: {}, 'an idempotent POST': { method: 'POST', idempotent: true } }
const HEADS = new Set(['a Readable that is too long', 'a Readable'])
const STATES = ['together', 'under way', 'in its body']

const program = (pipelining, first, source, method, state) => async (module, stage) => {
  const sides = ['first', 'second', 'third'].map(side => stage.log(side))
  let head, end
  const asked = new Promise(resolve => { head = resolve })
  const ending = new Promise(resolve => { end = resolve })
  const server = await stage.serve(async (request, response) => {
    request.on('error', () => {}).resume()
    response.on('error', () => {})
    if (request.url !== '/first') return response.end('hello')
    if (state === 'in its body') response.write('hel')
    head()
    await ending
    response.end('hello')
  })
  const client = stage.own(new module.Client(server.url, { pipelining }))
  const ask = async (log, options) => {
    try {
      const { statusCode, body } = await client.request(options)
      log(statusCode, (await body.text()).length)
    } catch (error) {
      log('failed', error)
    }
  }
  const all = [ask(sides[0], { path: '/first', ...FIRST[first] })]
  if (state !== 'together') await asked
  const headers = HEADS.has(source) ? { 'content-length': '8' } : {}
  all.push(ask(sides[1], { path: '/second', method, headers, ...METHODS[method], body: SOURCES[source]() }))
  all.push(ask(sides[2], { path: '/third', method: 'GET' }))
  await asked
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => { setImmediate(resolve) })
  end()
  await Promise.all(all)
}

const programs = {}
for (const pipelining of [1, 3]) {
  for (const first of Object.keys(FIRST)) {
    for (const source of Object.keys(SOURCES)) {
      for (const method of Object.keys(METHODS)) {
        for (const state of STATES) programs[`pipelining ${pipelining}, ${first} ${state}, and ${method} of ${source}`] = program(pipelining, first, source, method, state)
      }
    }
  }
}
export default programs

// Exchanges of `fetch` that are not ended by their signal: a dispatcher that is destroyed or gives an error of its own at each moment,
// and Readables as bodies that fail, by each version of HTTP.
import { Readable } from 'node:stream'
import { bytesOf, turns } from '../stage.mjs'

const wordsOf = error => `${error?.name} ${error?.code ?? ''} ${error?.message?.replace(/\d{4,5}/g, 'PORT')}`
const failure = error => [wordsOf(error), error?.cause === undefined ? '' : `<- ${wordsOf(error.cause)}`, error?.cause?.cause === undefined || !(error.cause instanceof DOMException) ? '' : `<- ${wordsOf(error.cause.cause)}`]

const REASONS = { 'without an error': () => undefined, 'with an error': () => new Error('enough'), 'with an abort': module => new module.errors.RequestAbortedError() }
const BODIES = { 'no body': () => undefined, 'a text': () => 'text', 'a stream that waits behind a piece': () => new ReadableStream({ start (controller) { controller.enqueue(Buffer.from('piece')) }, pull: () => new Promise(() => {}) }) }
/** How far the server answers before the dispatcher ends. */
const MOMENTS = ['at once', 'before the head', 'behind the head', 'in the body', 'behind the body']

function serverOf (stage, isH2, arrived) {
  const answer = (request, response) => {
    request.on('error', () => {}).resume()
    response.on('error', () => {})
    const how = request.url.slice(1)
    if (how === 'behind-the-head') response.writeHead(200).flushHeaders?.()
    if (how === 'in-the-body') response.write('half')
    if (how === 'behind-the-body') response.end('whole')
    arrived()
  }
  return isH2 ? stage.serveH2(answer) : stage.serve(answer)
}

async function destroyed (module, stage, { isH2, moment, reason, body }) {
  const log = stage.log('fetch')
  const come = Promise.withResolvers()
  const served = await serverOf(stage, isH2, come.resolve)
  const dispatcher = stage.own(new module.Agent({ connect: { rejectUnauthorized: false }, allowH2: isH2 }))
  const asked = module.fetch(`${served.url}/${moment.replaceAll(' ', '-')}`, { dispatcher, duplex: 'half', method: body() === undefined ? 'GET' : 'POST', body: body() })
  asked.catch(() => {})
  const hasHead = moment === 'behind the head' || moment === 'in the body' || moment === 'behind the body'
  if (moment !== 'at once') await come.promise
  const response = hasHead ? await asked : null
  if (moment === 'behind the body') log(await response.text())
  const over = dispatcher.destroy(reason(module))
  try {
    const given = response ?? await asked
    if (moment !== 'behind the body') log('body', await given.text())
  } catch (error) { log('failed', ...failure(error)) }
  await over
  await module.fetch(served.url, { dispatcher }).catch(error => { log('the next', ...failure(error)) })
}

/** Readables, made behind the call of the function. */
const SOURCES = {
  'failed before': () => broken(source => { source.destroy(new Error('mine')) }),
  'destroyed before': () => broken(source => { source.destroy() }),
  'read before': () => { const source = Readable.from(['a', 'b']); source.read(); return source },
  'fails in its first read': () => broken(() => {}, source => { source.destroy(new Error('mine')) }),
  'throws in its first read': () => broken(() => {}, () => { throw new Error('mine') }),
  'is destroyed in its first read': () => broken(() => {}, source => { source.destroy() }),
  'fails behind a piece': () => broken(() => {}, source => { source.push('piece'); setImmediate(() => { source.destroy(new Error('mine')) }) }),
  'is destroyed behind a piece': () => broken(() => {}, source => { source.push('piece'); setImmediate(() => { source.destroy() }) }),
  'gives what is no byte': () => Readable.from([{}]),
  'ends': () => Readable.from(['a', Buffer.from('b')])
}
function broken (act, read = () => {}) {
  let hasRead = false
  const source = new Readable({ read () { if (!hasRead) { hasRead = true; read(this) } } })
  source.on('error', () => {})
  act(source)
  return source
}

async function failing (module, stage, { isH2, make, way }) {
  const log = stage.log('fetch')
  const answer = async (request, response) => {
    const bytes = await bytesOf(request).catch(() => null)
    if (bytes !== null) response.end(`got ${bytes}`)
  }
  const served = await (isH2 ? stage.serveH2(answer) : stage.serve(answer))
  const dispatcher = stage.own(new module.Agent({ connect: { rejectUnauthorized: false }, allowH2: isH2 }))
  const source = make()
  const init = { method: 'POST', duplex: 'half', body: source }
  try {
    const response = await (way === 'in a Request' ? module.fetch(new module.Request(served.url, init), { dispatcher }) : module.fetch(served.url, { ...init, dispatcher }))
    log(await response.text())
  } catch (error) { log('failed', error instanceof TypeError && error.cause?.code === 'ERR_INVALID_ARG_TYPE' ? error.cause.code : failure(error)) }
  await turns()
  log('destroyed', source.destroyed)
}

/** Errors that a dispatcher of a program gives a fetch in place of an answer. */
const FAILURES = { 'an error': () => new Error('mine'), 'an abort': module => new module.errors.RequestAbortedError(), 'a text': () => 'mine', null: () => null, undefined: () => undefined, 'an object': () => ({ a: 1 }), 'an object that is called as an abort': () => ({ name: 'AbortError' }) }

const programs = {}
for (const isH2 of [false, true]) {
  const version = isH2 ? 'h2' : 'h1'
  for (const moment of MOMENTS) {
    for (const [label, reason] of Object.entries(REASONS)) {
      for (const [kind, body] of Object.entries(BODIES)) {
        programs[`${version}, ${kind}: a dispatcher that is destroyed ${moment}, ${label}`] = (module, stage) => destroyed(module, stage, { isH2, moment, reason, body })
      }
    }
  }
  for (const [label, make] of Object.entries(SOURCES)) {
    for (const way of ['in the call', 'in a Request']) programs[`${version}: a Readable that ${label}, ${way}`] = (module, stage) => failing(module, stage, { isH2, make, way })
  }
}
for (const [label, make] of Object.entries(FAILURES)) {
  programs[`a dispatcher that gives ${label}`] = async (module, stage) => {
    const log = stage.log('fetch')
    const dispatcher = { dispatch: (options, handler) => { handler.onResponseError(null, make(module)); return true } }
    await module.fetch('http://localhost/', { dispatcher }).then(() => { log('answered') }, error => { log('failed', ...failure(error)) })
  }
  programs[`a dispatcher that throws ${label}`] = async (module, stage) => {
    const log = stage.log('fetch')
    await module.fetch('http://localhost/', { dispatcher: { dispatch () { throw make(module) } } }).then(() => { log('answered') }, error => { log('failed', ...failure(error)) })
  }
}
export default programs

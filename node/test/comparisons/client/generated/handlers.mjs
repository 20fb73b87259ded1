// Acts of a handler of dispatch x the call in which it acts x the answer x version: the calls that follow, and what becomes of
// the next request. And readers that are slower than a peer that breaks off.
import { Writable } from 'node:stream'
import { cert } from '../../../support/certificates/certificate.mjs'
import { ownServer } from '../origins.mjs'
import { turns } from '../stage.mjs'

const VERSIONS = { h1: {}, h1s: { allowH2: false, connect: { ca: cert } } }
/** Bytes of an answer that comes in many pieces. */
const MANY_BYTES = 300_000
const ANSWERS = {
  'no body': response => { response.end() },
  'a text': response => { response.end('hello') },
  'two pieces': response => { response.write('hel'); setImmediate(() => { response.end('lo') }) },
  '300 KB': response => { response.end(Buffer.alloc(MANY_BYTES)) },
  'an interim head': response => { response.writeProcessing(); response.end('hello') },
  'a body that is cut': response => { response.writeHead(200, { 'content-length': 9 }).write('part', () => { response.socket.end() }) }
}
const ACTS = {
  'throws': ({ mine }) => { throw mine },
  'aborts': ({ controller }) => { controller.abort() },
  'aborts with a reason': ({ controller, mine }) => { controller.abort(mine) },
  'aborts twice': ({ controller, mine }) => { controller.abort(mine); controller.abort(new Error('two')) },
  'pauses and resumes': ({ controller }) => { controller.pause(); controller.resume() },
  'pauses, and resumes later': ({ controller }) => { controller.pause(); turns(5).then(() => { controller.resume() }) },
  'destroys the dispatcher': ({ dispatcher, log }) => { dispatcher.destroy().then(() => { log('destroyed') }) },
  'destroys the dispatcher with an error': ({ dispatcher, mine, log }) => { dispatcher.destroy(mine).then(() => { log('destroyed') }) },
  'closes the dispatcher': ({ dispatcher, log }) => { dispatcher.close().then(() => { log('closed') }) }
}
const CALLS = ['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseEnd', 'onResponseError']
const known = error => [error?.name, error?.code ?? 'without a code', error?.message].join(' ')

const serve = (stage, version, answer) => ownServer(stage, version, server => {
  server.on('request', (request, response) => {
    request.resume()
    if (request.method === 'HEAD') response.end()
    else answer(response)
  })
})

function acting (version, answer, call, act) {
  return async (module, stage) => {
    const log = stage.log('handler')
    for (const side of ['dispatcher', 'next']) stage.log(side)
    const origin = await serve(stage, version, ANSWERS[answer])
    const dispatcher = stage.own(new module.Client(origin, VERSIONS[version]))
    const mine = new Error('mine')
    let controller
    let hasActed = false
    let bytes = 0
    await new Promise(resolve => {
      const at = name => {
        if (name !== call || hasActed) return
        hasActed = true
        ACTS[act]({ controller, dispatcher, mine, log: stage.log('dispatcher') })
      }
      // Calls behind the last one are seen in the turns that follow.
      const over = () => { setImmediate(resolve) }
      dispatcher.dispatch({ method: 'POST', path: '/', body: 'xyz' }, {
        onRequestStart (given) { controller = given; log('start'); at('onRequestStart') },
        onResponseStart (_, status) { log('head', status); at('onResponseStart') },
        onResponseData (_, piece) { if (bytes === 0) log('data'); bytes += piece.length; at('onResponseData') },
        onResponseEnd () { log('end', bytes); over(); at('onResponseEnd') },
        onResponseError (_, error) { log('failed', error === mine, known(error), controller.aborted, controller.reason === mine); over(); at('onResponseError') }
      })
    })
    // A dispatcher that closes is closed by then.
    await turns(10)
    await dispatcher.request({ method: 'HEAD', path: '/' }).then(({ statusCode }) => { stage.log('next')(statusCode) }, error => { stage.log('next')(known(error)) })
  }
}

/** Bytes that come before the end of a peer: more than a stream buffers, and less than is received ahead. */
const BEFORE = 150_000
const FRAMINGS = { 'a length': { 'content-length': 2 * BEFORE }, chunks: {} }
/** A sink that takes its next piece when the peer has gone. */
const slow = (gone, count) => new Writable({ highWaterMark: 1, write (piece, _, done) { count(piece); gone.then(() => { setImmediate(done) }) } })
const READERS = {
  'a handler that pauses at the head' (dispatcher, options, gone, count) { return dispatching(dispatcher, options, count, 'head', gone) },
  'a handler that pauses at each piece' (dispatcher, options, gone, count) { return dispatching(dispatcher, options, count, 'data', gone) },
  async 'the stream of a call' (dispatcher, options, gone, count) { await dispatcher.stream(options, () => slow(gone, count)) }
}

function dispatching (dispatcher, options, count, moment, gone) {
  const pause = controller => {
    controller.pause()
    gone.then(() => { setImmediate(() => { controller.resume() }) })
  }
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(options, {
      onRequestStart () {},
      onResponseStart (controller) { if (moment === 'head') pause(controller) },
      onResponseData (controller, piece) { count(piece); if (moment === 'data') pause(controller) },
      onResponseEnd: resolve,
      onResponseError (_, error) { reject(error) }
    })
  })
}

function reading (version, framing, reader) {
  return async (module, stage) => {
    const log = stage.log('client')
    let end
    const gone = new Promise(resolve => { end = resolve })
    const origin = await serve(stage, version, response => {
      response.writeHead(200, FRAMINGS[framing]).write(Buffer.alloc(BEFORE), () => { response.socket.end(end) })
    })
    const dispatcher = stage.own(new module.Client(origin, VERSIONS[version]))
    let bytes = 0
    await READERS[reader](dispatcher, { method: 'GET', path: '/' }, gone, piece => { bytes += piece.length }).catch(error => { log(known(error)) })
    log(bytes)
  }
}

/** Whether the answer has, or may have, its end by then. */
const isChance = (answer, call, act) => act.includes('dispatcher') && answer !== 'no body' && call !== 'onRequestStart' && call !== 'onResponseError' && act.includes('destroys')

const programs = {}
for (const version of Object.keys(VERSIONS)) {
  for (const answer of Object.keys(ANSWERS)) {
    for (const call of CALLS) {
      if ((call === 'onResponseError') !== (answer === 'a body that is cut')) continue
      if (call === 'onResponseData' && answer === 'no body') continue
      for (const act of Object.keys(ACTS)) {
        if (isChance(answer, call, act)) continue
        programs[`${version}, ${answer}: ${call} ${act}`] = acting(version, answer, call, act)
      }
    }
  }
  for (const framing of Object.keys(FRAMINGS)) {
    for (const reader of Object.keys(READERS)) programs[`${version}, cut behind ${framing}: ${reader}`] = reading(version, framing, reader)
  }
}
export default programs

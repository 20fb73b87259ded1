// Ways to end an exchange x the moment at which it does x the answer x version: what the caller sees of the body and of the
// request behind it.
import { EventEmitter } from 'node:events'
import { VERSIONS, originOf } from '../origins.mjs'
import { turns } from '../stage.mjs'

/** Answers that come to their end, and one that does not. */
const ANSWERS = ['a text with its length', 'two pieces', '200 KB', 'half a body']
/** Ways to end it. `signal` makes what aborts the request, `of` gives the request's option of it; `isOfAll`: all requests of the
 * dispatcher end. */
const ENDINGS = {
  'its AbortSignal': { signal: () => new AbortController(), of: one => one.signal, end: ({ signal }) => { signal.abort(new Error('the reason')) } },
  'its EventEmitter': { signal: () => new EventEmitter(), of: one => one, end: ({ signal }) => { signal.emit('abort') } },
  'destroy of the dispatcher': { isOfAll: true, end: ({ dispatcher, log }) => { dispatcher.destroy().then(() => { log('destroyed') }) } },
  'destroy of the dispatcher with an error': { isOfAll: true, end: ({ dispatcher }) => { dispatcher.destroy(new Error('the reason'), () => {}) } },
  'destroy of the body': { end: ({ body }) => { body.destroy() } },
  'destroy of the body with an error': { end: ({ body }) => { body.destroy(new Error('the reason')) } }
}
const MOMENTS = ['in the callback', 'at the first data', 'behind the first data', 'at the end']

const events = ['error', 'end', 'close']
const known = error => `${error.name} ${error.code ?? ''} ${error.message}`

function program (version, answer, ending, moment) {
  return async (module, stage) => {
    const log = stage.log('client')
    const behind = stage.log('behind')
    const { origin, path } = await originOf(version)
    const dispatcher = stage.own(new module.Client(origin, VERSIONS[version]))
    const { signal: make, of, end } = ENDINGS[ending]
    const signal = make?.()
    await new Promise(resolve => {
      dispatcher.request({ method: 'GET', path: path(answer), ...signal === undefined ? {} : { signal: of(signal) } }, (error, { body } = {}) => {
        if (error !== null) return resolve(log('failed', known(error)))
        const finish = () => { end({ signal, dispatcher, body, log: stage.log('destroy') }) }
        for (const event of events) body.on(event, one => { log(event, ...one instanceof Error ? [known(one)] : [], body.destroyed) })
        body.once('close', resolve)
        if (moment === 'in the callback') finish()
        if (moment === 'at the first data') body.once('data', finish)
        if (moment === 'behind the first data') body.once('data', () => { setImmediate(finish) })
        if (moment === 'at the end') body.once('end', finish)
        body.resume()
      })
    })
    const waiting = dispatcher.request({ method: 'GET', path: path('a text') }).then(({ statusCode, body }) => body.text().then(text => { behind(statusCode, text) }))
    await waiting.catch(error => { behind(known(error)) })
    await turns(5)
    log('the dispatcher', dispatcher.closed, dispatcher.destroyed)
  }
}

/** Whether the answer may have come to its end by then, or never does. */
function isChance (answer, { isOfAll = false }, moment) {
  if (answer === 'half a body') return moment === 'at the end'
  return moment === 'behind the first data' || (isOfAll && moment === 'at the first data')
}

const programs = {}
for (const version of ['h1', 'h1s', 'h2']) {
  for (const answer of ANSWERS) {
    for (const ending of Object.keys(ENDINGS)) {
      for (const moment of MOMENTS) {
        if (isChance(answer, ENDINGS[ending], moment)) continue
        programs[`${version}, ${answer}: ${ending}, ${moment}`] = program(version, answer, ending, moment)
      }
    }
  }
}
export default programs

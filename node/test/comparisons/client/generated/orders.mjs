// Requests of which some are answered and some are held x dispatcher x version x how the dispatcher ends when nothing moves any more: the order in
// which the requests and their connections end, and which of them before the call returns.
import { VERSIONS, originOf } from '../origins.mjs'
import { turns } from '../stage.mjs'

/** `a`: is answered; `h`: is held until its dispatcher ends. */
const REQUESTS = ['hhhh', 'ahhh', 'aahhhh', 'ahahahhh', 'aaaaahhhhh']
const ANSWERS = { a: 'a text', h: 'no head' }
/** How many requests connections of HTTP/1.1 carry where none is answered; of an Agent all. */
const CARRIED = { 'Pool of 2': 2, 'Pool of 3': 3, 'Agent, 2 connections': 2, Agent: Infinity }
const KINDS = {
  Client: (module, origin, options) => new module.Client(origin, options),
  'Client, pipelining 3': (module, origin, options) => new module.Client(origin, { ...options, pipelining: 3 }),
  'Pool of 2': (module, origin, options) => new module.Pool(origin, { ...options, connections: 2 }),
  'Pool of 3': (module, origin, options) => new module.Pool(origin, { ...options, connections: 3 }),
  'Agent, 2 connections': (module, origin, options) => new module.Agent({ ...options, connections: 2 }),
  Agent: (module, origin, options) => new module.Agent(options)
}
const ENDS = {
  destroy: dispatcher => dispatcher.destroy(),
  'destroy with an error': dispatcher => dispatcher.destroy(new Error('over')),
  'close, then destroy': dispatcher => {
    dispatcher.close(() => {})
    return dispatcher.destroy()
  }
}
const FACES = ['promises', 'callbacks', 'handlers']
const known = error => [error.name, error.code, error.message].join(' ')

const programs = {}
for (const version of ['h1', 'h2']) {
  for (const [kind, make] of Object.entries(KINDS)) {
    if (version === 'h2' && (kind.includes('pipelining') || kind.endsWith('of 3') || kind.endsWith('connections'))) continue
    for (const requests of REQUESTS) {
      // Which of a pool's connections of HTTP/1.1 carries a request behind answered ones is chance.
      if (version === 'h1' && kind in CARRIED && requests.includes('a')) continue
      for (const [end, act] of Object.entries(ENDS)) {
        // undici's Agent lets go of its pools when it closes.
        if (end.startsWith('close') && kind.startsWith('Agent')) continue
        for (const face of FACES) {
          programs[`${version}, ${kind}, ${requests}: ${end}, ${face}`] = async (module, stage) => {
            const log = stage.log('client')
            let answered = 0
            let opened = 0
            let arrived = 0
            const { origin, path } = await originOf(version, () => { arrived++ })
            const dispatcher = stage.own(make(module, origin, VERSIONS[version]))
            dispatcher.on('connect', () => { opened++ }).on('disconnect', (_, targets, error) => { log('disconnect', known(error)) })
            const read = body => body.text().then(() => { answered++ })
            const all = [...requests].map((kind, at) => {
              const options = { origin, method: 'GET', path: path(ANSWERS[kind]) }
              if (face === 'promises') return dispatcher.request(options).then(({ body }) => read(body), error => { log(at, known(error)) })
              return new Promise(resolve => {
                if (face === 'callbacks') {
                  dispatcher.request(options, (error, answer) => {
                    if (error !== null) return resolve(log(at, known(error)))
                    resolve(read(answer.body))
                  })
                  return
                }
                dispatcher.dispatch(options, {
                  onRequestStart () {}, onResponseStart () {}, onResponseData () {}, onResponseEnd () { answered++; resolve() },
                  onResponseError (_, error) { resolve(log(at, known(error))) }
                })
              })
            })
            // Until what can be answered is, and what is held has arrived.
            const first = requests.indexOf('h')
            const carried = Math.min(CARRIED[kind] ?? 1, requests.length)
            const [answers, arrivals] = version === 'h1' ? [first, first + carried] : [requests.split('a').length - 1, requests.length]
            while (answered < answers || arrived < arrivals || (version === 'h1' && opened < carried)) await turns(1)
            await turns(20)
            const over = act(dispatcher).then(() => { log('ended') })
            log('returned')
            await Promise.all([...all, over])
          }
        }
      }
    }
  }
}
export default programs

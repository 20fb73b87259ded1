// Every function of the caller's that throws x version of HTTP: which further functions are called, where the exception
// goes, and what becomes of the dispatcher.
import { PassThrough, Readable, Writable } from 'node:stream'
import { VERSIONS, originOf } from '../origins.mjs'
import { roundTrips, turns } from '../stage.mjs'

const HOOKS = ['onRequestStart', 'onResponseStarted', 'onResponseStart', 'onResponseData', 'onResponseEnd', 'onResponseError', 'onBodySent', 'onRequestSent']
const ANSWERED = ['a text', 'nothing', 'a 103 before it', 'the connection ends before the head']
/** Over HTTP/2 undici fills the memory of its process with errors of a stream where one of these throws, or never goes on. */
const ENDLESS_ON_H2 = new Set(['dispatch, onBodySent', 'dispatch, onRequestSent', 'dispatch, onResponseStarted', 'read of the source', 'a source that is no generator'])

/** A request by `dispatch` one of whose hooks throws at its first call. */
function throwing (hooks, thrower) {
  return async (dispatcher, options, log, quiet) => {
    await new Promise(resolve => {
      let hasThrown = false
      const handler = {}
      for (const hook of hooks) {
        handler[hook] = (...args) => {
          log(hook, ...args.filter(arg => arg instanceof Error))
          const isLast = ['onResponseEnd', 'onResponseError'].includes(hook)
          if (isLast) resolve()
          if (hook === thrower && !hasThrown) {
            hasThrown = true
            // The end of one that is not called back at all is seen by what follows.
            quiet().then(resolve)
            throw new Error(`from ${hook}`)
          }
        }
      }
      try {
        dispatcher.dispatch({ method: 'POST', body: 'some text', ...options }, handler)
      } catch (error) {
        log('dispatch threw', error)
        resolve()
      }
    })
  }
}

const fault = where => { throw new Error(`from ${where}`) }
const failed = log => (error) => { log('failed', error) }

/** Calls of undici's API one of whose functions throws. */
const CALLS = {
  'the callback of request': async (dispatcher, options, log, quiet) => {
    await new Promise(resolve => {
      dispatcher.request({ method: 'GET', ...options }, (error, answer) => {
        log('called', error, answer?.statusCode)
        quiet().then(resolve)
        fault('the callback')
      })
    })
  },
  'onInfo': async (dispatcher, options, log) => {
    await dispatcher.request({ method: 'GET', ...options, onInfo: () => { fault('onInfo') } }).then(({ body }) => body.text()).then(text => { log(text) }, failed(log))
  },
  'the factory of stream': async (dispatcher, options, log) => {
    await dispatcher.stream({ method: 'GET', ...options }, () => fault('the factory')).then(() => { log('done') }, failed(log))
  },
  'the factory of stream gives nothing': async (dispatcher, options, log) => {
    await dispatcher.stream({ method: 'GET', ...options }, () => {}).then(() => { log('done') }, failed(log))
  },
  'write of the sink of stream': async (dispatcher, options, log) => {
    const sink = new Writable({ write () { fault('write') } })
    sink.on('error', error => { log('sink', error) }).on('close', () => { log('sink closed') })
    await dispatcher.stream({ method: 'GET', ...options }, () => sink).then(() => { log('done') }, failed(log))
  },
  'the callback of stream': async (dispatcher, options, log, quiet) => {
    await new Promise(resolve => {
      dispatcher.stream({ method: 'GET', ...options }, () => new PassThrough().resume(), error => {
        log('called', error)
        quiet().then(resolve)
        fault('the callback')
      })
    })
  },
  'the handler of pipeline': async (dispatcher, options, log) => {
    const duplex = dispatcher.pipeline({ method: 'POST', ...options }, () => fault('the handler'))
    duplex.on('error', failed(log)).resume().end('text')
    await new Promise(resolve => { duplex.on('close', resolve) })
  },
  'the handler of pipeline behind its reader': async (dispatcher, options, log, quiet) => {
    const duplex = dispatcher.pipeline({ method: 'POST', ...options }, ({ body }) => {
      body.on('data', () => { fault('data') })
      return body
    })
    duplex.on('error', failed(log)).resume().end('text')
    await Promise.race([new Promise(resolve => { duplex.on('close', resolve) }), quiet()])
  },
  'a listener of data': async (dispatcher, options, log, quiet) => {
    await dispatcher.request({ method: 'GET', ...options }).then(async ({ body }) => {
      body.on('data', () => { fault('data') }).on('error', failed(log)).on('close', () => { log('closed') })
      await quiet()
    }, failed(log))
  },
  'a listener of end': async (dispatcher, options, log, quiet) => {
    await dispatcher.request({ method: 'GET', ...options }).then(async ({ body }) => {
      body.resume().on('end', () => { fault('end') }).on('error', failed(log)).on('close', () => { log('closed') })
      await quiet()
    }, failed(log))
  },
  'the source of the body, at once': async (dispatcher, options, log) => {
    async function * source () { fault('the source') }
    await dispatcher.request({ method: 'POST', ...options, body: source() }).then(({ body }) => body.text()).then(text => { log(text) }, failed(log))
  },
  'the source of the body, behind a piece': async (dispatcher, options, log) => {
    async function * source () { yield 'begin'; fault('the source') }
    await dispatcher.request({ method: 'POST', ...options, body: source() }).then(({ body }) => body.text()).then(text => { log(text) }, failed(log))
  },
  'a source that is no generator': async (dispatcher, options, log) => {
    const body = { [Symbol.iterator]: () => fault('the iterator') }
    await dispatcher.request({ method: 'POST', ...options, body }).then(({ body }) => body.text()).then(text => { log(text) }, failed(log))
  },
  'read of the source': async (dispatcher, options, log) => {
    const body = new Readable({ read () { fault('read') } })
    body.on('error', error => { log('source', error) })
    await dispatcher.request({ method: 'POST', ...options, body }).then(({ body }) => body.text()).then(text => { log(text) }, failed(log))
  },
  'a listener of the signal': async (dispatcher, options, log) => {
    const controller = new AbortController()
    const call = dispatcher.request({ method: 'GET', ...options, signal: controller.signal }).then(({ body }) => body.text())
    controller.signal.addEventListener('abort', () => { fault('the signal') })
    controller.abort()
    await call.then(text => { log(text) }, failed(log))
  },
  'a listener of connect': async (dispatcher, options, log, quiet) => {
    dispatcher.once('connect', () => { fault('connect') })
    await Promise.race([dispatcher.request({ method: 'GET', ...options }).then(({ body }) => body.text()).then(text => { log(text) }, failed(log)), quiet()])
  },
  'a listener of drain': async (dispatcher, options, log, quiet) => {
    dispatcher.once('drain', () => { fault('drain') })
    await dispatcher.request({ method: 'GET', ...options }).then(({ body }) => body.text()).then(text => { log(text) }, failed(log))
    await quiet()
  }
}

/** Whether the dispatcher goes on, and comes to its end. */
async function after (dispatcher, origin, path, log) {
  const limit = (label, promise) => Promise.race([promise, new Promise(resolve => { setTimeout(resolve, 5000, `${label}: it waits`) })])
  log(await limit('another request', dispatcher.request({ origin, path, method: 'GET' }).then(({ body }) => body.text()).catch(error => error)))
  log(await limit('close', dispatcher.close().then(() => 'closed', error => error)))
}

const programs = {}
function add (name, version, answer, call, options = {}) {
  if (version === 'h2' && ENDLESS_ON_H2.has(name)) return
  programs[`${name}, ${version}, ${answer}`] = async (module, stage) => {
    for (const side of ['client', 'again', 'process']) stage.log(side)
    const { origin, path } = await originOf(version)
    const dispatcher = stage.own(new module.Client(origin, VERSIONS[version]))
    dispatcher.on('error', error => { stage.log('client')('error of the dispatcher', error) })
    await call(dispatcher, { origin, path: path(answer), ...options }, stage.log('client'), async () => await roundTrips(module, stage, { origin, path: path('a text') }, VERSIONS[version]))
    await turns()
    await after(dispatcher, origin, path('a text'), stage.log('again'))
  }
}

for (const version of ['h1', 'h2']) {
  for (const answer of ANSWERED) {
    for (const hook of HOOKS) add(`dispatch, ${hook}`, version, answer, throwing(HOOKS, hook))
    for (const [name, call] of Object.entries(CALLS)) add(name, version, answer, call)
  }
}
export default programs

// The context of AsyncLocalStorage in callbacks and events.
import { AsyncLocalStorage } from 'node:async_hooks'
import { compat, core, http1, session } from '../shapes.mjs'

const storage = new AsyncLocalStorage()
/**
 * Runs `work` in a context of its own, and logs each name with the context in which it was called.
 */
const inside = (log, work) => storage.run('mine', () => { work(name => () => { log(name, storage.getStore()) }) })
const POST = { headers: { ':method': 'POST' }, body: 'hello there' }
const BIG = Buffer.alloc(400_000, 'b')

/** A response that is written until it is to wait, then ended. */
const writing = (response, reported) => {
  response.on('drain', reported('drain'))
  response.on('finish', reported('finish'))
  response.write('first')
  let waits = true
  for (let count = 0; waits && count < 20; count++) waits = response.write(BIG)
  response.once('drain', () => { response.end('last', reported('end')) })
}

export default {
  'callbacks of a session': session((own, { log }) => new Promise(resolve => {
    inside(log, reported => {
      own.ping(reported('ping'))
      own.settings({ initialWindowSize: 70_000 }, () => { reported('settings')(); resolve() })
    })
  })),
  'callbacks of a response': compat((request, response, { log }) => {
    inside(log, reported => {
      response.write('a', reported('write'))
      response.end('b', reported('end'))
    })
  }),
  'a stream whose writer waits': core((stream, { log }) => {
    inside(log, reported => {
      stream.respond()
      writing(stream, reported)
    })
  }),
  'events of a body': core((stream, { log }) => {
    inside(log, reported => {
      stream.on('data', reported('data'))
      stream.on('end', reported('end'))
      stream.on('end', () => { stream.respond(); stream.end() })
    })
  }, POST),
  'events of HTTP/1.1': http1((request, response, { log }) => {
    inside(log, reported => {
      request.on('end', reported('request end'))
      response.on('finish', reported('finish'))
      request.resume()
      request.on('end', () => { response.end('ok', reported('end')) })
    })
  }, [{}, { method: 'POST', body: 'hello' }]),
  'a response of HTTP/1.1 whose writer waits': http1((request, response, { log }) => {
    inside(log, reported => { writing(response, reported) })
  })
}

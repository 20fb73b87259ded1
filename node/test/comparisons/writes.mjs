// Writes of one turn on a stream, and the ends that come behind them, for the programs of both sides.

/** Fits the windows that both sides begin with, and no frame. */
const LARGE = Buffer.alloc(40_000, 'x')

export const WRITES = {
  'a write': stream => { stream.write('hello') },
  'two writes': stream => { stream.write('hello'); stream.write('world') },
  'a large write': stream => { stream.write(LARGE) },
  'an end': stream => { stream.end() },
  'an end with a text': stream => { stream.end('hello') },
  'a write and an end': stream => { stream.write('hello'); stream.end() },
  'a write and an end with a text': stream => { stream.write('hello'); stream.end('world') }
}

export const ENDS = {
  close: stream => { stream.close() },
  'close 2': stream => { stream.close(2) },
  'close 8': stream => { stream.close(8) },
  destroy: stream => { stream.destroy() },
  'destroy with an error': stream => { stream.destroy(new Error('ours')) },
  'close 8 and destroy': stream => { stream.close(8); stream.destroy() },
  'session close': (stream, session) => { session.close(); stream.destroy() },
  'session destroy': (stream, session) => { session.destroy() },
  'session destroy 2': (stream, session) => { session.destroy(2) }
}

/** Where node:http2 never ends the stream: its second write waits for ever. (One that has ended, is closed and destroyed, for
 * which its process takes all memory, is not here at all.) */
const isStuck = (written, how) => written === 'two writes' && how === 'close'

/** How far an exchange is x what is written x when its end comes x how: one of each over TLS. */
export function * combined (reached) {
  for (const isSecure of [false, true]) {
    for (const at of isSecure ? reached.slice(1, 2) : reached) {
      for (const written of Object.keys(WRITES)) {
        for (const moment of Object.keys(LATER).slice(0, isSecure ? 1 : undefined)) {
          for (const how of Object.keys(ENDS)) if (!isStuck(written, how)) yield { name: [isSecure ? 'TLS' : 'clear', at, written, moment, how].join(', '), isSecure, at, written, moment, how }
        }
      }
    }
  }
}

/** When the end comes. */
export const LATER = {
  'in the same turn': () => {},
  'a tick later': () => new Promise(resolve => { process.nextTick(resolve) }),
  'a turn later': () => new Promise(resolve => { setImmediate(resolve) })
}

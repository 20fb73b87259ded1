// Readables that end in every way in their first or a later read x method x content-length x call: what the caller sees, and
// the state of the source.
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { CALLS } from '../line_calls.mjs'
import { bytesOf, turns } from '../stage.mjs'

/** Acts of a source behind its pieces, in the same turn. */
const ENDS = {
  'ends': source => { source.push(null) },
  'destroys itself': source => { source.destroy() },
  'destroys itself with an error': source => { source.destroy(new Error('mine')) },
  'ends and destroys itself': source => { source.push(null); source.destroy() },
  'emits an error': source => { source.emit('error', new Error('mine')) }
}
const WHEN = {
  'in its first read': (source, act) => { act() },
  'a turn behind its first read': (source, act) => { setImmediate(act) },
  'in its constructor': null
}

function sourceOf (pieces, end, when) {
  let hasRead = false
  const act = source => {
    for (let at = 0; at < pieces; at++) source.push(`piece ${at} `)
    end(source)
  }
  const source = new Readable({
    read () {
      if (hasRead || when === null) return
      hasRead = true
      when(this, () => { act(this) })
    }
  })
  source.on('error', () => {})
  if (when === null) act(source)
  return source
}

const programs = {}
for (const [call, asks] of Object.entries(CALLS)) {
  for (const [end, ends] of Object.entries(ENDS)) {
    for (const [when, acts] of Object.entries(WHEN)) {
      for (const pieces of [0, 1, 2]) {
        for (const isDeclared of [false, true]) {
          // Nothing listens to an error yet, and whether all bytes of a length have left before their source is gone is chance.
          if (when === 'in its constructor' && end === 'emits an error') continue
          if (when.startsWith('a turn') && isDeclared && end.includes('destroys')) continue
          programs[`${call}, ${pieces} pieces${isDeclared ? ' with their length' : ''}, ${when} it ${end}`] = async (module, t) => {
            const log = t.log('client')
            const server = await t.serve(async (request, response) => {
              const body = await bytesOf(request).catch(() => null)
              if (body !== null) response.end(`got ${body}`)
            })
            const source = sourceOf(pieces, ends, acts)
            const headers = isDeclared ? { 'content-length': String(pieces * 8) } : {}
            await asks(module, t, server.url, { path: '/', method: 'POST', body: source, headers }, log)
            await turns()
            log('source', source.destroyed, source.errored?.message)
          }
        }
      }
    }
  }
}

/** Readables that were read to their end before they are a body: they have no byte, on a new connection and on one that is there. */
const READ = {
  'a Readable': () => Readable.from(['read before']),
  'a PassThrough': () => new PassThrough().end('read before'),
  'a Readable that does not destroy itself': () => new Readable({ autoDestroy: false, read () { this.push(null) } })
}
const UNTIL = { 'its end': 'end', 'its close': 'close' }
for (const [kind, make] of Object.entries(READ)) {
  for (const [until, event] of Object.entries(UNTIL)) {
    for (const method of ['POST', 'GET']) {
      for (const dispatcher of ['Client', 'Pool']) {
        if (kind.includes('does not') && event === 'close') continue
        programs[`${dispatcher}, ${method} of ${kind} that was read until ${until}`] = async (module, t) => {
          const server = await t.serve(async (request, response) => { response.end(`got ${await bytesOf(request)}`) })
          const asked = t.own(new module[dispatcher](server.url))
          for (const connection of ['a new connection', 'the same connection']) {
            const source = make().resume()
            await once(source, event)
            await t.settle(t.log(connection), 'answer', asked.request({ path: '/', method, body: source }).then(({ body }) => body.text()))
          }
        }
      }
    }
  }
}
export default programs

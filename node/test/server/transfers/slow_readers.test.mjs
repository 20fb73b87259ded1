// Answers of 4 MiB to one client, of which some are read as they come and others a piece for every eighth piece of those: each
// comes whole, and those that are read at once end before the others are read on. The bodies of the slow ones fit the windows.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { Agent, createSecureServer, request } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'

const BODY = Buffer.alloc(4 << 20, Buffer.from(Array.from({ length: 251 }, (_, at) => at)))
const PIECE = 48 * 1024
const VERSIONS = { 'HTTP/2': { allowH2: true }, 'HTTP/3': { http3: 'only' } }
const WRITERS = {
  'as a whole': response => { response.end(BODY) },
  'in pieces, as there is room': response => {
    let at = 0
    const more = () => {
      while (at < BODY.length) {
        const piece = BODY.subarray(at, at += PIECE)
        if (!response.write(piece)) return response.once('drain', more)
      }
      response.end()
    }
    more()
  }
}

/** Turns of slow readers: each waits for eight pieces of eager ones, or for their end. */
class Turns {
  #waiting = []
  #pieces = 0
  #over = false
  piece () { if (++this.#pieces % 8 === 0) this.#next() }
  end () {
    this.#over = true
    this.#next()
  }

  #next () { for (const resolve of this.#waiting.splice(0)) resolve() }
  next () { return this.#over ? Promise.resolve() : new Promise(resolve => { this.#waiting.push(resolve) }) }
}

for (const [version, options] of Object.entries(VERSIONS)) {
  for (const [way, write] of Object.entries(WRITERS)) {
    for (const engine of ['inline', 'threads']) {
      test(`${version}, ${engine}: large answers ${way} come whole to eager and to slow readers of one connection`, async t => {
        const server = createSecureServer({ cert, key, engine, allowHTTP1: true, http3: true, requests: 'http' }, (_, response) => { write(response) })
        server.listen(0, '127.0.0.1')
        await once(server, 'listening')
        const dispatcher = new Agent({ ...options, engine, connect: { ca: cert } })
        t.after(async () => {
          await dispatcher.destroy()
          server.close()
          server.closeAllConnections()
        })
        const turns = new Turns()
        const read = async step => {
          const { body } = await request(`https://127.0.0.1:${server.address().port}/`, { dispatcher })
          const pieces = []
          for await (const piece of body) {
            pieces.push(piece)
            await step()
          }
          assert.ok(Buffer.concat(pieces).equals(BODY))
        }
        const slow = Array.from({ length: 6 }, () => read(() => turns.next()))
        await Promise.all(Array.from({ length: 6 }, () => read(() => turns.piece())))
        turns.end()
        await Promise.all(slow)
      })
    }
  }
}

/** Together more than a connection's share of the budget for what waits. */
const UNREAD = 12

for (const [version, options] of Object.entries(VERSIONS)) {
  for (const [way, write] of Object.entries(WRITERS)) {
    for (const engine of ['inline', 'threads']) {
      test(`${version}, ${engine}: small answers pass large ones ${way} that are not read`, async t => {
        const server = createSecureServer({ cert, key, engine, allowHTTP1: true, http3: true, requests: 'http' }, (asked, response) => {
          if (asked.url === '/large') write(response)
          else response.end('small')
        })
        server.listen(0, '127.0.0.1')
        await once(server, 'listening')
        const dispatcher = new Agent({ ...options, engine, connections: 1, connect: { ca: cert } })
        t.after(async () => {
          await dispatcher.destroy()
          server.close()
          server.closeAllConnections()
        })
        const ask = path => request(`https://127.0.0.1:${server.address().port}/${path}`, { dispatcher })
        const unread = await Promise.all(Array.from({ length: UNREAD }, () => ask('large')))
        for (let number = 0; number < 20; number++) assert.equal(await (await ask('small')).body.text(), 'small')
        for (const { body } of unread) assert.ok(Buffer.from(await body.arrayBuffer()).equals(BODY))
      })
    }
  }
}

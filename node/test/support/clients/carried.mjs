// Streams made in JavaScript that carry connections: hand-made pairs, and Duplexes around a socket that
// split, delay, count or hold back what goes through them.
import { Duplex } from 'node:stream'

/** Two ends in memory; what one writes the other reads. Bytes in both directions may be held by `options`. */
export function pairOf (options = {}) {
  class End extends Duplex {
    other = null
    taken = null
    _read () {
      const { taken } = this
      this.taken = null
      taken?.()
    }
    _write (chunk, encoding, done) {
      if (this.other.destroyed) return done()
      const bytes = Buffer.from(chunk)
      // Later: node's own sessions over TLS do not stand bytes that come while they write.
      process.nextTick(() => {
        if (this.other.destroyed || this.other.push(bytes)) done()
        else this.other.taken = done
      })
    }
    _final (done) {
      if (!this.other.destroyed) this.other.push(null)
      done()
    }
    _destroy (error, done) {
      this.taken?.()
      // As with sockets, what is destroyed before its end is no end in order for the other.
      if (!this.writableFinished) setImmediate(() => { this.other.destroy() })
      done(error)
    }
  }
  const [one, other] = [new End(options), new End(options)]
  one.other = other
  other.other = one
  return [one, other]
}

/** A Duplex around another one; `cut` gives the pieces of a chunk, `wait` is called before each of them. */
export class Around extends Duplex {
  /** Bytes that went through, each way. */
  read_ = 0
  written = 0
  constructor (inner, { cut = chunk => [chunk], wait = null, ...options } = {}) {
    super({ ...options })
    this.inner = inner
    this.cut = cut
    this.wait = wait
    inner.on('data', chunk => { this.arrived(chunk) })
    inner.on('end', () => { this.queue = (this.queue ?? Promise.resolve()).then(() => { this.push(null) }) })
    inner.on('error', error => { this.destroy(error) })
    inner.on('close', () => { if (!this.readableEnded && !inner.readableEnded) this.destroy() })
  }
  arrived (chunk) {
    this.inner.pause()
    this.queue = (this.queue ?? Promise.resolve()).then(async () => {
      let hasRoom = true
      for (const piece of this.cut(chunk)) {
        if (this.wait !== null) await this.wait()
        this.read_ += piece.length
        hasRoom = this.push(piece)
      }
      if (hasRoom) this.inner.resume()
    })
  }
  _read () { this.inner.resume() }
  async _write (chunk, encoding, done) {
    for (const piece of this.cut(Buffer.from(chunk))) {
      if (this.wait !== null) await this.wait()
      this.written += piece.length
      if (this.inner.destroyed) return done()
      await new Promise(resolve => { this.inner.write(piece, resolve) })
    }
    done()
  }
  _final (done) {
    this.inner.end()
    done()
  }
  _destroy (error, done) {
    this.inner.destroy()
    done(error)
  }
}

/** Each byte by itself. */
export const bytewise = chunk => Array.from(chunk, (_, at) => chunk.subarray(at, at + 1))
/** Later, by a turn of the event loop. */
export const turn = () => new Promise(resolve => { setImmediate(resolve) })

/** Resolves when a number stays the same for a while. */
export async function settled (count) {
  let [last, since] = [count(), Date.now()]
  while (Date.now() - since < 300) {
    await new Promise(resolve => { setTimeout(resolve, 10) })
    if (count() !== last) [last, since] = [count(), Date.now()]
  }
  return last
}

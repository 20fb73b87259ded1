// Readers of a body that fail at one of its pieces, each in its own way: at that which has a z.
import { addAbortSignal, pipeline, Transform, Writable } from 'node:stream'

const failure = new Error('enough')
const isLast = piece => piece.includes('z')
export const READERS = {
  'a pipeline into a transform': (source, log) => { pipeline(source, new Transform({ transform (piece, _encoding, done) { isLast(piece) ? done(failure) : done(null, piece) } }).resume(), error => { log('pipeline', error) }) },
  'a pipeline into a transform that fails a turn later': (source, log) => { pipeline(source, new Transform({ transform (piece, _encoding, done) { isLast(piece) ? setImmediate(done, failure) : done(null, piece) } }).resume(), error => { log('pipeline', error) }) },
  'a pipeline into a transform that throws away the end': (source, log) => { pipeline(source, new Transform({ transform (_piece, _encoding, done) { done() }, flush (done) { done(failure) } }).resume(), error => { log('pipeline', error) }) },
  'a pipeline into a sink': (source, log) => { pipeline(source, new Writable({ write (piece, _encoding, done) { done(isLast(piece) ? failure : null) } }), error => { log('pipeline', error) }) },
  'a pipeline into a sink that is destroyed': (source, log) => { pipeline(source, new Writable({ write (piece, _encoding, done) { if (isLast(piece)) this.destroy(); done() } }), error => { log('pipeline', error) }) },
  'a pipeline into a function': (source, log) => { pipeline(source, async pieces => { for await (const piece of pieces) if (isLast(piece)) throw failure }, error => { log('pipeline', error) }) },
  'an iteration that breaks': async (source, log) => {
    for await (const piece of source) if (isLast(piece)) break
    log('broke')
  },
  'an iteration that throws': async (source, log) => {
    try {
      for await (const piece of source) if (isLast(piece)) throw failure
    } catch (error) { log('caught', error) }
  },
  'an iteration that awaits and throws': async (source, log) => {
    try {
      for await (const piece of source) {
        await null
        if (isLast(piece)) throw failure
      }
    } catch (error) { log('caught', error) }
  },
  'a listener that destroys': source => { source.on('data', piece => { if (isLast(piece)) source.destroy(failure) }) },
  'a listener that destroys without an error': source => { source.on('data', piece => { if (isLast(piece)) source.destroy() }) },
  'a listener that destroys in a tick': source => { source.on('data', piece => { if (isLast(piece)) process.nextTick(() => { source.destroy(failure) }) }) },
  'a listener that destroys in a microtask': source => { source.on('data', piece => { if (isLast(piece)) queueMicrotask(() => { source.destroy(failure) }) }) },
  'a listener that aborts a signal': source => {
    const controller = new AbortController()
    addAbortSignal(controller.signal, source)
    source.on('data', piece => { if (isLast(piece)) controller.abort() })
  },
  'a listener that closes the stream': (source, log, stream) => { source.on('data', piece => { if (isLast(piece)) stream.close(5) }) },
  'a listener that closes the stream in a tick': (source, log, stream) => { source.on('data', piece => { if (isLast(piece)) process.nextTick(() => { stream.close(5) }) }) },
  'a listener that answers and destroys': (source, log, stream) => {
    source.on('data', piece => {
      if (!isLast(piece)) return
      stream.respond()
      stream.write('part')
      source.destroy(failure)
    })
  },
  'a listener of readable': source => { source.on('readable', () => { for (let piece = source.read(); piece !== null; piece = source.read()) if (isLast(piece)) source.destroy(failure) }) }
}

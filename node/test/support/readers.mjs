// Readers of streams, of every kind that programs have.
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Each calls `take` with what it reads. Its promise is kept at the end of the body, and broken by an end before that. */
export const readers = {
  'listeners of data': (stream, take) => new Promise((resolve, reject) => { stream.on('data', take).on('end', resolve).on('aborted', reject) }),
  'listeners of readable': (stream, take) => new Promise((resolve, reject) => {
    stream.on('readable', () => {
      for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) take(chunk)
    }).on('end', resolve).on('aborted', reject)
  }),
  async 'an iterator' (stream, take) { for await (const chunk of stream) take(chunk) },
  'a pipeline': (stream, take) => pipeline(stream, new Writable({ write (chunk, _encoding, done) { take(chunk); done() } }))
}

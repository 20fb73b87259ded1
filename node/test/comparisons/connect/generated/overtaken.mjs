// A write that is under way when its stream or its session is destroyed: what its callback gets, and when.
import { closing, turns } from '../stage.mjs'

const SIZES = { 'a few bytes': 2, 'more than a window': 300_000 }
const ENDS = {
  'the stream': stream => { stream.destroy() },
  'the stream with an error': stream => { stream.destroy(new Error('ours')) },
  'the session': (stream, session) => { session.destroy() },
  'the session with an error': (stream, session) => { session.destroy(new Error('theirs')) }
}
const ignore = stream => { stream.on('error', () => {}); stream.respond() }

const programs = {}
for (const server of ['node', 'ours']) {
  for (const [size, bytes] of Object.entries(SIZES)) {
    for (const [end, destroy] of Object.entries(ENDS)) {
      for (const isLater of [false, true]) {
        programs[`${server}, ${size}, ${end}, ${isLater ? 'behind the response' : 'in the turn of the write'}`] = async ({ connect }, t) => {
          const { url } = await t.serve(server, { listeners: { stream: ignore } })
          const session = t.open(connect, url)
          const log = t.log('order')
          await new Promise(resolve => { session.once('connect', resolve) })
          const stream = session.request({ ':method': 'POST' })
          for (const event of ['error', 'aborted', 'end', 'close']) stream.on(event, given => { log(event, given) })
          stream.resume()
          const response = new Promise(resolve => { stream.once('response', resolve) })
          await turns(1)
          stream.write(Buffer.alloc(bytes), error => { log('written', error) })
          if (isLater) await response
          destroy(stream, session)
          log('destroyed')
          await closing(stream)
          await turns(3)
          session.destroy()
          await closing(session)
        }
      }
    }
  }
}
export default programs

// Each way in which a server breaks a rule of HTTP/2: what the session and its two streams come to, and whether the process lives.
import { closing } from '../stage.mjs'
import { VIOLATIONS, serveViolation } from '../../violations.mjs'

/** Some violations leave a session open, which its program ends then. */
const OVER_MS = 500

const programs = {}
for (const [name, bytes] of VIOLATIONS) {
  programs[name] = async ({ connect }, t) => {
    for (const side of ['session', 'first', 'first, sending', 'second', 'second, sending']) t.log(side)
    const { origin } = await serveViolation(t, bytes, { isSecure: false })
    const session = t.open(connect, origin)
    session.on('goaway', (code, last) => { t.log('session')('goaway', code, last) })
    session.on('frameError', (...given) => { t.log('session')('frameError', ...given) })
    const streams = ['first', 'second'].map(one => t.watch(session.request({ ':method': 'POST' }).end('a body'), one))
    const timer = setTimeout(() => { t.log('session')('over'); session.destroy() }, OVER_MS)
    await Promise.all(streams)
    await closing(session)
    clearTimeout(timer)
  }
}
export default programs

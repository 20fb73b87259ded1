// Each way in which a server breaks a rule of HTTP/2 x call of undici's API: the error of each of two requests of the connection, what a server
// gets of them, and whether the dispatcher goes on.
import { FACES } from '../faces.mjs'
import { cert, turns } from '../stage.mjs'
import { VIOLATIONS, serveViolation } from '../../violations.mjs'

/** Some violations leave a request without an answer, which is over then. */
const OVER_MS = 2500

const programs = {}
for (const [name, bytes] of VIOLATIONS) {
  for (const face of ['request', 'fetch']) {
    for (const method of ['GET', 'POST']) {
      // One way of errors for all calls.
      if (face === 'fetch' && (method === 'POST' || !name.startsWith('a head'))) continue
      programs[`${face}, ${method}, ${name}`] = async (module, stage) => {
        for (const side of ['first', 'second', 'next', 'events', 'server']) stage.log(side)
        const { origin, counts } = await serveViolation(stage, bytes, { isSecure: true })
        const client = stage.own(new module.Client(origin, { allowH2: true, maxConcurrentStreams: 100, connect: { ca: cert } }))
        client.on('disconnect', (url, targets, error) => { stage.log('events')('disconnect', error.name, error.code, error.message) })
        const controller = new AbortController()
        const options = { origin, path: '/', method, signal: controller.signal, ...method === 'GET' ? {} : { body: 'a body' } }
        const both = ['first', 'second'].map(one => FACES[face](client, options, stage.log(one), () => {}))
        const timer = setTimeout(() => { controller.abort() }, OVER_MS)
        await Promise.all(both)
        clearTimeout(timer)
        await turns(20)
        await FACES.request(client, { origin, path: '/', method: 'GET', signal: AbortSignal.timeout(OVER_MS) }, stage.log('next'), () => {})
        stage.log('server')(counts)
      }
    }
  }
}
export default programs

// CONNECT x status x framing of the answer x call: what comes of each answer to it, and what its socket gives.
import { known } from '../line_calls.mjs'
import { closing } from '../stage.mjs'

const STATUSES = { 200: 'OK', 204: 'No Content', 299: 'Odd', 300: 'Multiple Choices', 304: 'Not Modified', 400: 'Bad Request', 403: 'Forbidden', 404: 'Not Found', 407: 'Proxy Authentication Required', 500: 'Sorry', 502: 'Bad Gateway', 503: 'Unavailable' }
const FRAMINGS = {
  'a length': ['content-length: 2\r\n', 'no'],
  'a length of 0': ['content-length: 0\r\n', ''],
  'no length': ['', 'no'],
  'no body': ['', '']
}
const CALLS = {
  'connect of a Client': (module, t, url, options) => t.own(new module.Client(url)).connect(options),
  "undici's connect over an Agent": (module, t, url, { path, ...rest }) => module.top.connect(url, { ...rest, path, dispatcher: t.own(new module.Agent()) })
}

const programs = {}
for (const [call, asks] of Object.entries(CALLS)) {
  for (const [status, words] of Object.entries(STATUSES)) {
    for (const [framing, [fields, bytes]] of Object.entries(FRAMINGS)) {
      programs[`${call}, ${status} with ${framing}`] = async (module, t) => {
        const log = t.log('client')
        const server = await t.serveRaw(socket => {
          socket.once('data', () => { socket.end(`HTTP/1.1 ${status} ${words}\r\nX-Own: mine\r\n${fields}\r\n${bytes}`) })
        })
        try {
          const { statusCode, headers, socket, opaque } = await asks(module, t, server.url, { path: 'other.test:1', opaque: 'own' })
          log('opened', statusCode, headers['x-own'], opaque, typeof socket.write)
          let text = ''
          socket.on('data', piece => { text += piece }).on('end', () => { log('end') }).on('error', error => { log('error', known(error)) })
          await closing(socket)
          log('got', text)
        } catch (error) {
          log('failed', known(error), error.statusCode)
        }
      }
    }
  }
  for (const act of ['destroy', 'end']) {
    programs[`${call}, 407, and ${act} at once, as undici's ProxyAgent does`] = async (module, t) => {
      const log = t.log('client')
      const server = await t.serveAnswer('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')
      const { statusCode, socket } = await asks(module, t, server.url, { path: 'other.test:1' }).catch(error => { log('failed', known(error)); return {} })
      if (socket === undefined) return
      log(statusCode)
      socket.on('error', error => { log('error', known(error)) })
      socket.resume()[act]()
      await closing(socket)
      log('closed')
    }
  }
}
export default programs

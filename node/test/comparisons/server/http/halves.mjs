// Connections that have left HTTP, whose client ends its side: whether the server's side ends with it.
import { HOST, get, raw } from '../wire.mjs'
import { turns } from '../../sides.mjs'

const TEXTS = {
  upgrade: [`GET /a HTTP/1.1\r\n${HOST}connection: upgrade\r\nupgrade: tea\r\n\r\n`, 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: tea\r\n\r\n'],
  'upgrade behind a request': [`${get('/first')}GET /a HTTP/1.1\r\n${HOST}connection: upgrade\r\nupgrade: tea\r\n\r\n`, 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: tea\r\n\r\n'],
  connect: [`CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`, 'HTTP/1.1 200 Established\r\n\r\n']
}
const READERS = {
  'that resumes': socket => { socket.resume() },
  'that reads': socket => { socket.on('data', () => {}) },
  'that writes behind the end': (socket, log) => {
    socket.on('error', error => { log(error) })
    socket.resume().on('end', () => { socket.write('last', error => { log('written', error?.code) }) })
  }
}

const ended = (event, reader, options) => {
  const [text, answer] = TEXTS[event]
  const name = event.split(' ')[0]
  return raw((server, { log }) => {
    server.on('request', (request, response) => { response.end('ok') })
    server.on(name, (...given) => {
      const socket = given[1]
      log(socket.allowHalfOpen)
      socket.on('finish', () => { log('finish') })
      socket.on('end', async () => {
        await turns()
        log('end', socket.writableEnded)
        socket.destroy()
      })
      socket.write(answer)
      reader(socket, log)
    })
  }, text, {
    options,
    act: async (socket, { until }) => {
      await until(answer)
      socket.end()
    }
  })
}

const programs = {}
for (const event of Object.keys(TEXTS)) {
  for (const [how, reader] of Object.entries(READERS)) {
    programs[`${event}, a listener ${how}`] = ended(event, reader, {})
    programs[`${event}, a listener ${how}, allowHalfOpen`] = ended(event, reader, { allowHalfOpen: true })
  }
}
export default programs

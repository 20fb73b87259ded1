import { Server } from 'socket.io'

export function start ({ create }) {
  const server = create((request, response) => { response.end('beside') })
  const io = new Server(server, { cors: { origin: 'https://a.test' } })
  io.on('connection', socket => {
    socket.emit('welcome', socket.handshake.query.who)
    socket.on('echo', (text, done) => { socket.emit('echoed', text); done?.(`got ${text}`) })
  })
  return server
}

const base = '/socket.io/?EIO=4&who=row&transport='

/** The id that an opening packet names. */
const idOf = text => JSON.parse(text.slice(text.indexOf('{'))).sid

export const masks = [[/"sid":"[^"]+"/g, '"sid":""']]
export const requests = [
  { path: '/' },
  { path: '/socket.io/?EIO=4' },
  { path: '/socket.io/?EIO=9&transport=polling' },
  { path: '/socket.io/socket.io.js', headers: { 'if-none-match': '"4.8.4"' } },
  {
    name: 'polling',
    async run ({ ask }) {
      const opened = await ask(`${base}polling`, { headers: { origin: 'https://a.test' } })
      const path = `${base}polling&sid=${idOf(opened.body)}`
      const all = [opened, await ask(path, { method: 'POST', body: '40', headers: { 'content-type': 'text/plain' } })]
      const welcome = await ask(path)
      all.push(welcome)
      // The event may be with the packet that names the namespace's id, or behind it.
      if (!welcome.body.includes('welcome')) all[2] = { ...welcome, body: `${welcome.body}\x1e${(await ask(path)).body}` }
      delete all[2].headers['content-length']
      all.push(await ask(path, { method: 'POST', body: '420["echo","hi"]', headers: { 'content-type': 'text/plain' } }))
      const echoed = await ask(path)
      if (!echoed.body.includes('got')) echoed.body += `\x1e${(await ask(path)).body}`
      delete echoed.headers['content-length']
      return [...all, echoed, await ask(path, { method: 'POST', body: '1', headers: { 'content-type': 'text/plain' } })]
    }
  },
  {
    name: 'a WebSocket',
    run: ({ socket }) => socket(`${base}websocket`, {}, async ({ send, next }) => {
      const all = [await next()]
      send('40')
      all.push(await next(), await next())
      send('420["echo","hi"]')
      all.push(await next(), await next())
      return all
    })
  },
  {
    name: 'polling, then a WebSocket',
    async run ({ ask, socket }) {
      const opened = await ask(`${base}polling`)
      const sid = idOf(opened.body)
      return await socket(`${base}websocket&sid=${sid}`, {}, async ({ send, next }) => {
        send('2probe')
        const all = [await next()]
        send('5')
        send('40')
        all.push(await next(), await next())
        return all
      })
    }
  }
]

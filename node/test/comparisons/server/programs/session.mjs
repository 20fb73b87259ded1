// A connection as the server sees it.
import { once } from 'node:events'
import { core, session } from '../shapes.mjs'
import { closing } from '../stage.mjs'

const ended = async client => { if (!client.destroyed) await closing(client) }

/** The settings of extensions that both sides show at each step of a connection's beginning. */
const extensions = async (http2, t) => {
  const log = t.log('server')
  const custom = settings => settings.customSettings
  const server = http2.createServer({ settings: { customSettings: { 1244: 456 } }, remoteCustomSettings: [55] })
  server.on('session', own => {
    log('session', custom(own.localSettings), own.localSettings === own.localSettings)
    own.settings({ customSettings: { 1245: 7 } })
    log('behind settings', custom(own.localSettings))
    own.on('localSettings', settings => { log('acknowledged', custom(settings), custom(own.localSettings)) })
  })
  server.on('stream', stream => {
    log('stream', custom(stream.session.localSettings), custom(stream.session.remoteSettings))
    stream.respond()
    stream.end()
  })
  await t.show(await t.open(server, { settings: { customSettings: { 55: 12 } }, remoteCustomSettings: [1244] }))
}

/** The error of a socket that a program destroys, or whose event it emits, where a response is open. */
const faulty = act => async (http2, t) => {
  const log = t.log('server')
  const server = http2.createServer()
  let socket
  server.on('connection', one => { socket = one })
  server.on('session', own => {
    own.on('error', error => { log('session error', error) })
    own.on('close', () => { log('session close', own.destroyed, own.closed) })
  })
  server.on('sessionError', error => { log('sessionError', error) })
  server.on('stream', stream => {
    stream.on('error', error => { log('stream error', error) })
    stream.on('close', () => { log('stream close', stream.rstCode) })
    stream.respond()
    stream.write('x')
  })
  const client = await t.open(server)
  const request = client.request()
  request.on('error', () => {})
  client.on('error', () => {})
  await once(request, 'data')
  const left = closing(client)
  act(socket, new Error('a fault'))
  await left
  t.log('client')(request.rstCode)
}

export default {
  'the error with which its socket is destroyed': faulty((socket, error) => { socket.destroy(error) }),
  'an error that its socket emits': faulty((socket, error) => { socket.emit('error', error) }),
  'its socket is destroyed': faulty(socket => { socket.destroy() }),
  'settings of extensions before they are acknowledged': extensions,
  'state right behind setLocalWindowSize': session((own, { log }) => {
    for (const size of [1_000_000, 2_000_000, 500_000, 70_000]) {
      own.setLocalWindowSize(size)
      log(size, own.state.effectiveLocalWindowSize)
    }
  }),
  'a session says what it is': session((own, { log }) => {
    log(own.constructor.name, own.type, own.encrypted, own.alpnProtocol, own.connecting, own.closed, own.destroyed)
  }),
  'a session over TLS says what it is': session((own, { log }) => {
    log(own.type, own.encrypted, own.alpnProtocol, own.connecting, own.closed, own.destroyed)
  }, { secure: true }),
  'a session knows its server': session((own, { log, server }) => { log(own.server === server) }),
  'a session is connected, in the next turn': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer((request, response) => { response.end() })
    server.on('session', own => { own.on('connect', (again, socket) => { log('connect', again === own, typeof socket) }) })
    await t.show(await t.open(server))
  },
  'a session hears of its streams': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.on('session', own => {
      own.on('stream', (stream, headers, flags, raw) => {
        log(stream.session === own, headers[':path'], typeof flags, Array.isArray(raw))
        stream.respond()
        stream.end()
      })
    })
    await t.show(await t.open(server))
  },
  'the codes of a session that nobody left': session((own, { log }) => { log(own.goawayCode, own.goawayLastStreamID) }),
  'settings of a fresh session': session(async (own, { log }) => {
    await once(own, 'localSettings')
    log(own.localSettings)
  }),
  'a session waits for the acknowledgement of its settings': session(async (own, { log }) => {
    log(own.pendingSettingsAck)
    const [settings] = await once(own, 'localSettings')
    log(own.pendingSettingsAck, settings.initialWindowSize)
  }),
  'the settings of the client are told': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    const reported = new Promise(resolve => server.on('session', own => own.once('remoteSettings', resolve)))
    await t.open(server, { settings: { initialWindowSize: 80_000, enablePush: false, maxFrameSize: 17_000 } })
    log(await reported)
  },
  'the state of a session has nine members': session((own, { log }) => { log(Object.keys(own.state)) }),
  'settings are sent, acknowledged and seen': session(async (own, { log, t, client }) => {
    const seen = t.log('client')
    const called = new Promise(resolve => {
      own.settings({ initialWindowSize: 90_000 }, (error, settings, duration) => { log(error, settings.initialWindowSize, typeof duration); resolve() })
    })
    while (client.remoteSettings.initialWindowSize !== 90_000) await once(client, 'remoteSettings')
    seen(client.remoteSettings.initialWindowSize)
    await called
  }),
  'settings that cannot be are refused': session((own, { log, t }) => {
    for (const [label, settings] of Object.entries({
      text: 'x', null: null, size: { headerTableSize: -1 }, window: { initialWindowSize: -1 }, frame: { maxFrameSize: 1 }, push: { enablePush: 1 }, list: { maxHeaderListSize: 2 ** 33 }
    })) t.attempt(log, label, () => { own.settings(settings) })
    t.attempt(log, 'callback', () => { own.settings({}, 'x') })
  }),
  'a ping is answered': session(async (own, { log }) => {
    await new Promise(resolve => {
      log(own.ping((error, duration, payload) => { log(error, typeof duration, payload.length); resolve() }))
    })
  }),
  'a ping brings its payload back': session(async (own, { log }) => {
    await new Promise(resolve => { own.ping(Buffer.from('abcdefgh'), (error, duration, payload) => { log(error, payload); resolve() }) })
  }),
  'pings that cannot be are refused': session((own, { log, t }) => {
    t.attempt(log, 'seven bytes', () => { own.ping(Buffer.alloc(7), () => {}) })
    t.attempt(log, 'a text', () => { own.ping('x', () => {}) })
    t.attempt(log, 'no callback', () => { own.ping() })
    t.attempt(log, 'no callback behind a payload', () => { own.ping(Buffer.alloc(8)) })
  }),
  'a ping of the client is told': session(async (own, { log, client }) => {
    const reported = once(own, 'ping')
    client.ping(Buffer.from('12345678'), () => {})
    log((await reported)[0])
  }),
  'goaway reaches the client': session(async (own, { log, t, client }) => {
    const reported = once(client, 'goaway')
    log(own.goaway(0, 0, Buffer.from('bye')))
    const [code, last, data] = await reported
    t.log('client')(code, last, data === undefined ? data : Buffer.from(data))
    own.destroy()
  }),
  'goaway with a code ends the client with it': session(async (own, { t, client }) => {
    const seen = t.log('client')
    client.on('error', error => { seen(error) })
    client.on('goaway', code => { seen('goaway', code) })
    own.goaway(2)
    await ended(client)
    own.destroy()
  }),
  'goaways that cannot be are refused': session((own, { log, t }) => {
    t.attempt(log, 'code', () => { own.goaway('x') })
    t.attempt(log, 'last', () => { own.goaway(0, 'x') })
    t.attempt(log, 'data', () => { own.goaway(0, 0, 'x') })
  }),
  'goaway of the client is told': session(async (own, { log, client }) => {
    const reported = once(own, 'goaway')
    client.goaway(0, 0, Buffer.from('bye'))
    const [code, last, data] = await reported
    log(code, last, Buffer.from(data), own.goawayCode)
  }),
  'goaway with a code of the client is an error of the session': session(async (own, { log, client }) => {
    const error = new Promise(resolve => { own.on('error', error => { resolve([error]) }) })
    const closed = closing(own)
    client.goaway(2)
    log((await error)[0])
    await closed
    log(own.destroyed)
  }),
  'close ends an idle session and calls back': session(async (own, { log, client }) => {
    const closed = closing(own)
    log(own.close(() => { log('closed', own.destroyed) }), own.closed)
    await closed
    await ended(client)
  }),
  'close lets an open stream finish': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.on('stream', stream => {
      const own = stream.session
      own.on('close', () => { log('session closed') })
      stream.on('close', () => { log('stream closed', stream.rstCode) })
      stream.respond()
      stream.write('a')
      own.close()
      log(own.closed, own.destroyed)
      stream.end('b')
    })
    const client = await t.open(server)
    await t.show(client)
    await ended(client)
  },
  'destroy ends everything at once': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.on('stream', stream => {
      const own = stream.session
      t.watch(log, stream, 'stream', ['aborted', 'error', 'close'], (event, ...args) => event === 'close' ? [stream.rstCode] : args)
      t.watch(log, own, 'session', ['error', 'close'], (event, ...args) => args)
      stream.respond()
      own.destroy()
      log(own.destroyed, stream.destroyed)
    })
    const client = await t.open(server)
    await t.show(client)
    await ended(client)
  },
  'destroy with an error tells it': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.on('sessionError', error => { log('server', error) })
    server.on('stream', stream => {
      const own = stream.session
      t.watch(log, stream, 'stream', ['aborted', 'error', 'close'], (event, ...args) => event === 'close' ? [stream.rstCode] : args)
      t.watch(log, own, 'session', ['error', 'close'], (event, ...args) => args)
      stream.respond()
      own.destroy(new Error('enough'))
    })
    const client = await t.open(server)
    await t.show(client)
    await ended(client)
  },
  'destroy with a code makes an error of it': session(async (own, { log, client }) => {
    own.on('error', error => { log(error) })
    own.destroy(3)
    log(own.destroyed)
    await ended(client)
  }),
  'a destroyed session refuses everything': session(async (own, { log, t, client }) => {
    own.destroy()
    t.attempt(log, 'ping', () => { own.ping(() => {}) })
    t.attempt(log, 'settings', () => { own.settings({}) })
    t.attempt(log, 'goaway', () => { own.goaway() })
    t.attempt(log, 'window', () => { own.setLocalWindowSize(100_000) })
    t.attempt(log, 'next', () => { own.setNextStreamID(10) })
    t.attempt(log, 'altsvc', () => { own.altsvc('h2=":1"') })
    t.attempt(log, 'origin', () => { own.origin('https://x') })
    t.attempt(log, 'close', () => own.close())
    t.attempt(log, 'destroy', () => own.destroy())
    log(own.state, own.localSettings, own.remoteSettings, own.originSet)
    await ended(client)
  }),
  'a session that the client leaves is closed': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer((request, response) => { response.end() })
    const closed = new Promise(resolve => {
      server.on('session', own => { own.on('close', () => { log('closed', own.destroyed, own.closed); resolve() }) })
    })
    const client = await t.open(server)
    await t.show(client)
    client.close()
    await closed
  },
  'a session whose client vanishes is closed': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    const closed = new Promise(resolve => {
      server.on('session', own => {
        own.on('error', error => { log(error) })
        own.on('close', () => { log('closed', own.destroyed); resolve() })
      })
    })
    const client = await t.open(server)
    await once(client, 'remoteSettings')
    client.destroy()
    await closed
  },
  'the socket of a session says where the client is': session((own, { log }) => {
    const { socket } = own
    log(socket.remoteAddress, socket.remoteFamily, socket.remotePort > 0, socket.localAddress, socket.localPort === own.server.address().port)
  }),
  'the socket of a session cannot be used': session((own, { log, t }) => {
    for (const name of ['destroy', 'emit', 'end', 'pause', 'read', 'resume', 'write', 'setEncoding', 'setKeepAlive', 'setNoDelay']) {
      t.attempt(log, name, () => own.socket[name])
    }
    for (const name of ['setTimeout', 'ref', 'unref']) t.attempt(log, name, () => typeof own.socket[name])
  }),
  'the socket of a destroyed session is gone': session(async (own, { log, t, client }) => {
    const closed = closing(own)
    own.destroy()
    await closed
    await ended(client)
    t.attempt(log, 'socket', () => own.socket)
  }),
  'ref and unref of a session return nothing': session((own, { log }) => { log(own.unref(), own.ref()) }),
  'a session has a timeout': session(async (own, { log, t }) => {
    t.attempt(log, 'callback', () => { own.setTimeout(10, 'x') })
    t.attempt(log, 'time', () => { own.setTimeout('x') })
    await new Promise(resolve => { log(own.setTimeout(20, resolve) === own) })
    log('timeout')
  }),
  'a window is set': session((own, { log, t }) => {
    t.attempt(log, 'good', () => own.setLocalWindowSize(2 ** 20))
    t.attempt(log, 'text', () => own.setLocalWindowSize('x'))
    t.attempt(log, 'negative', () => own.setLocalWindowSize(-1))
    t.attempt(log, 'large', () => own.setLocalWindowSize(2 ** 32))
  }),
  'the number of the next stream is checked': session((own, { log, t }) => {
    t.attempt(log, 'text', () => own.setNextStreamID('x'))
    t.attempt(log, 'zero', () => own.setNextStreamID(0))
    t.attempt(log, 'large', () => own.setNextStreamID(2 ** 32))
    t.attempt(log, 'good', () => own.setNextStreamID(10))
  }),
  'altsvc is checked': session((own, { log, t }) => {
    t.attempt(log, 'alt', () => { own.altsvc(1) })
    t.attempt(log, 'character', () => { own.altsvc('h2=\u0001') })
    t.attempt(log, 'stream 0', () => { own.altsvc('h2=":1"', 0) })
    t.attempt(log, 'stream -1', () => { own.altsvc('h2=":1"', -1) })
    t.attempt(log, 'origin', () => { own.altsvc('h2=":1"', 'abc:') })
    t.attempt(log, 'true', () => { own.altsvc('h2=":1"', true) })
    t.attempt(log, 'length', () => { own.altsvc('a'.repeat(17_000)) })
  }),
  'altsvc reaches the client': session(async (own, { t, client }) => {
    const reported = once(client, 'altsvc')
    own.altsvc('h2=":8000"', 'https://example.org')
    t.log('client')(...await reported)
  }),
  'origins are checked': session((own, { log, t }) => {
    log(own.origin())
    t.attempt(log, 'null', () => { own.origin('null:') })
    t.attempt(log, 'not a URL', () => { own.origin('x') })
    t.attempt(log, 'a number', () => { own.origin(1) })
    t.attempt(log, 'length', () => { own.origin('https://' + 'a'.repeat(17_000)) })
  }),
  'origins reach the client': session(async (own, { t, client }) => {
    const reported = once(client, 'origin')
    own.origin('https://a.example', 'https://b.example/path')
    t.log('client')(...await reported)
  }, { secure: true }),
  'origins of the options reach the client': async (http2, t) => {
    const { cert, key } = await import('../stage.mjs')
    const server = http2.createSecureServer({ cert, key, origins: ['https://a.example'] })
    const client = await t.open(server, { secure: true })
    t.log('client')(...await once(client, 'origin'))
  },
  'a server session cannot ask': session((own, { log }) => { log(typeof own.request) }),
  'a session is the same for all its streams': core((() => {
    let before
    return (stream, { log }) => {
      log(before === undefined || before === stream.session, stream.id)
      before = stream.session
      stream.respond()
      stream.end()
    }
  })(), [{ name: 'first' }, { name: 'second' }, { name: 'third' }])
}

// Connection-level frames between the two ends of an HTTP/2 session.
import { once } from 'node:events'
import { session } from '../shapes.mjs'
import { cert, closing, key } from '../stage.mjs'

const settled = async own => { if (own.pendingSettingsAck) await once(own, 'localSettings') }
const until = call => new Promise(resolve => { call(resolve) })
/** Settings that our server and node:http2's both send. */
const BOTH = { settings: { maxConcurrentStreams: 100, maxHeaderListSize: 20_000, initialWindowSize: 65_535 } }

export default {
  'settings of the options are those of a session once they are acknowledged': session(async (own, { log }) => {
    await settled(own)
    log(own.localSettings)
  }, { options: BOTH }),
  'remote settings are told again when they change': session(async (own, { log, client }) => {
    await settled(own)
    for (const settings of [{ initialWindowSize: 90_000 }, { headerTableSize: 100, enablePush: false }]) {
      const reported = once(own, 'remoteSettings')
      client.settings(settings)
      const [remote] = await reported
      log(remote.initialWindowSize, remote.headerTableSize, remote.enablePush, remote === own.remoteSettings)
    }
  }),
  'several changes of settings are acknowledged in their order': session(async (own, { log, client }) => {
    await settled(own)
    const seen = new Promise(resolve => {
      own.settings({ initialWindowSize: 70_000 }, (error, settings) => { log(error, settings.initialWindowSize, own.pendingSettingsAck) })
      own.settings({ maxConcurrentStreams: 7 }, (error, settings) => { log(error, settings.initialWindowSize, settings.maxConcurrentStreams, own.pendingSettingsAck); resolve() })
    })
    log(own.pendingSettingsAck)
    await seen
    log(own.localSettings.maxConcurrentStreams, client.remoteSettings.maxConcurrentStreams)
  }),
  'empty settings are acknowledged': session(async (own, { log }) => {
    await settled(own)
    await until(done => { own.settings({}, (error, settings, duration) => { log(error, typeof settings, duration >= 0); done() }) })
  }),
  'the event comes behind the callback': session(async (own, { log }) => {
    await settled(own)
    const reported = once(own, 'localSettings')
    own.settings({ maxConcurrentStreams: 9 }, () => { log('callback') })
    const [settings] = await reported
    log('event', settings.maxConcurrentStreams)
  }),
  'a smaller window holds the client back': session(async (own, { log, client, t }) => {
    await settled(own)
    await until(done => { own.settings({ initialWindowSize: 10 }, done) })
    own.server.removeAllListeners('stream')
    own.server.on('stream', stream => {
      stream.once('data', piece => { log(piece.length); stream.respond(); stream.end() })
    })
    await t.show(client, { headers: { ':method': 'POST' }, body: Buffer.alloc(100) })
  }),
  'more settings than may wait end the session': session(async (own, { log }) => {
    await settled(own)
    const closed = closing(own)
    own.on('error', error => { log(error) })
    for (let count = 0; count < 3; count++) own.settings({}, error => { log(count, error) })
    await closed
    log(own.destroyed)
  }, { options: { maxOutstandingSettings: 2 } }),
  'updateSettings is for sessions to come': async (http2, t) => {
    const log = t.log('client')
    const server = http2.createServer(BOTH)
    const first = await t.open(server)
    log((await once(first, 'remoteSettings'))[0].maxConcurrentStreams)
    server.updateSettings({ maxConcurrentStreams: 55, enableConnectProtocol: true })
    const second = await t.open(server)
    const [settings] = await once(second, 'remoteSettings')
    log(settings.maxConcurrentStreams, settings.enableConnectProtocol, settings.maxHeaderListSize)
    log(first.remoteSettings.maxConcurrentStreams)
  },
  'a table of another size is said to the client': async (http2, t) => {
    const log = t.log('client')
    const server = http2.createServer({ settings: { headerTableSize: 1024 } }, (request, response) => { response.end(request.headers['x-a']) })
    const client = await t.open(server)
    const [settings] = await once(client, 'remoteSettings')
    log(settings.headerTableSize)
    for (const value of ['one', 'two', 'one']) await t.show(client, { headers: { 'x-a': value } })
  },
  'several pings are answered, each with its own': session(async (own, { log }) => {
    const answers = ['11111111', '22222222'].map(text => until(done => { own.ping(Buffer.from(text), (error, duration, payload) => { log(error, duration > 0, payload.toString()); done() }) }))
    await Promise.all(answers)
  }),
  'more pings than may wait are refused': session(async (own, { log }) => {
    await settled(own)
    await until(done => {
      log(own.ping(error => { log('first', error); done() }))
      log(own.ping(error => { log('second', error) }))
    })
  }, { options: { maxOutstandingPings: 1 } }),
  'a payload may be any view of eight bytes': session(async (own, { log }) => {
    await until(done => { own.ping(new Uint16Array([1, 2, 3, 4]), (error, duration, payload) => { log(error, payload); done() }) })
  }),
  'a ping of a session that closes is cancelled': session(async (own, { log }) => {
    const stream = once(own.server, 'stream')
    own.close()
    await until(done => { log(own.ping((error, ...rest) => { log(error, rest.length); done() })) })
    stream.catch(() => {})
  }),
  'a ping without an answer is cancelled when its session ends': session(async (own, { log }) => {
    const cancelled = until(done => { own.ping(error => { log(error); done() }) })
    own.destroy()
    await cancelled
  }),
  'pings of the client are told with their bytes, each': session(async (own, { log, client }) => {
    const reported = []
    const all = until(done => { own.on('ping', payload => { reported.push(payload.toString()); if (reported.length === 2) done() }) })
    client.ping(Buffer.from('aaaaaaaa'), () => {})
    client.ping(Buffer.from('bbbbbbbb'), () => {})
    await all
    log(reported)
  }),
  'goaway says what it is told to': session(async (own, { t, client }) => {
    const seen = t.log('client')
    client.on('error', error => { seen(error) })
    const reported = once(client, 'goaway')
    own.goaway(0, 7, new Uint8Array([1, 2, 3]))
    const [code, last, data] = await reported
    seen(code, last, Buffer.from(data))
    own.destroy()
  }),
  'goaway without anything says no error': session(async (own, { t, client }) => {
    const reported = once(client, 'goaway')
    own.goaway()
    const [code, last, data] = await reported
    t.log('client')(code, last, data)
    own.destroy()
  }),
  'goaway leaves what is open open': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.on('stream', stream => {
      stream.session.goaway(0)
      log(stream.session.closed, stream.session.destroyed)
      stream.respond()
      setTimeout(() => { stream.end('after all') }, 20)
    })
    await t.show(await t.open(server))
  },
  'goaway of a client is told, and closes the session': session(async (own, { log, client }) => {
    const closed = closing(own)
    own.once('goaway', (code, last, data) => { log('goaway', code, last, data, own.closed) })
    client.close()
    await closed
    log(own.goawayCode, own.goawayLastStreamID, own.closed, own.destroyed)
  }),
  'goaway with a code of a client ends its streams': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    const over = new Promise(resolve => {
      server.on('sessionError', error => { log('session', error) })
      server.on('stream', stream => {
        stream.on('error', error => { log('stream', error) })
        stream.on('close', () => { log('closed', stream.rstCode); resolve() })
        stream.respond()
        stream.write('a')
        client.goaway(2)
      })
    })
    const client = await t.open(server)
    client.request().on('error', () => {}).resume()
    await over
  },
  'the window of a connection is that of its state': session(async (own, { log }) => {
    await settled(own)
    own.setLocalWindowSize(2 ** 25)
    log(own.state.effectiveLocalWindowSize, own.state.localWindowSize)
  }),
  'a state knows what was asked': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.on('stream', stream => {
      const { state } = stream.session
      log(state.lastProcStreamID, state.nextStreamID, state.remoteWindowSize, state.deflateDynamicTableSize >= 0)
      stream.respond()
      stream.end()
    })
    const client = await t.open(server)
    await t.show(client)
    await t.show(client)
  },
  'a raised window reaches the client': session(async (own, { t, client }) => {
    await settled(own)
    own.setLocalWindowSize(2 ** 26)
    // A PING may overtake the WINDOW_UPDATE.
    while (client.state.remoteWindowSize < 2 ** 26) await new Promise(resolve => { setImmediate(resolve) })
    t.log('client')(client.state.remoteWindowSize)
  }),
  'altsvc for a stream reaches the client': async (http2, t) => {
    const log = t.log('client')
    const server = http2.createServer()
    server.on('stream', stream => {
      stream.session.altsvc('h3=":443"', stream.id)
      stream.respond()
      stream.end()
    })
    const client = await t.open(server)
    client.on('altsvc', (...all) => { log('altsvc', ...all) })
    await t.show(client)
  },
  'altsvc for an origin by URL and by object': session(async (own, { t, client }) => {
    const log = t.log('client')
    let count = 0
    await until(done => {
      client.on('altsvc', (alt, origin, stream) => { log(alt, origin, stream); if (++count === 2) done() })
      own.altsvc('h2=":8000"', new URL('https://a.example/path'))
      own.altsvc('clear', { origin: 'https://b.example' })
    })
  }),
  'several origins are the origin set of the client': async (http2, t) => {
    const log = t.log('client')
    const server = http2.createSecureServer({ cert, key, origins: ['https://a.example', 'https://b.example:81/x'] })
    const client = await t.open(server, { secure: true })
    log(await once(client, 'origin'))
    log(client.originSet.slice(1))
  }
}

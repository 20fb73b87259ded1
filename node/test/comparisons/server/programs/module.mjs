// The module's exports beside its servers.
export default {
  'the module has the functions of a server': async (http2, t) => {
    const log = t.log('module')
    for (const name of ['createServer', 'createSecureServer', 'getDefaultSettings', 'getPackedSettings', 'getUnpackedSettings', 'Http2ServerRequest', 'Http2ServerResponse']) {
      log(name, typeof http2[name], http2[name].name, http2[name].length)
    }
  },
  'the constants are there': async (http2, t) => {
    const log = t.log('module')
    log(Object.keys(http2.constants).length)
    for (const name of ['NGHTTP2_CANCEL', 'HTTP2_HEADER_STATUS', 'HTTP_STATUS_OK', 'HTTP2_METHOD_GET', 'NGHTTP2_SETTINGS_MAX_FRAME_SIZE', 'PADDING_STRATEGY_NONE']) log(name, http2.constants[name])
  },
  'default settings': async (http2, t) => { t.log('module')(http2.getDefaultSettings()) },
  'settings are packed and unpacked': async (http2, t) => {
    const log = t.log('module')
    const packed = http2.getPackedSettings({ initialWindowSize: 100_000, maxFrameSize: 20_000, enablePush: false })
    log(packed.toString('hex'), http2.getUnpackedSettings(packed))
  },
  'what cannot be packed is refused': async (http2, t) => {
    const log = t.log('module')
    for (const [label, settings] of Object.entries({
      size: { headerTableSize: -1 }, window: { initialWindowSize: 2 ** 32 }, frame: { maxFrameSize: 1 }, push: { enablePush: 1 },
      streams: { maxConcurrentStreams: -1 }, list: { maxHeaderListSize: -1 }, connect: { enableConnectProtocol: 'yes' }
    })) t.attempt(log, label, () => http2.getPackedSettings(settings))
    t.attempt(log, 'a number', () => http2.getPackedSettings(1))
    t.attempt(log, 'five bytes', () => http2.getUnpackedSettings(Buffer.alloc(5)))
    t.attempt(log, 'a text', () => http2.getUnpackedSettings('text'))
  },
  'the symbol of sensitive headers is the same everywhere': async (http2, t) => {
    const node = await import('node:http2')
    t.log('module')(String(http2.sensitiveHeaders), http2.sensitiveHeaders === node.sensitiveHeaders)
  },
  'performServerHandshake exists where the module has it': async (http2, t) => {
    const node = await import('node:http2')
    t.log('module')(typeof http2.performServerHandshake === typeof node.performServerHandshake)
  },
  'options of a wrong type are refused': async (http2, t) => {
    const log = t.log('module')
    const wrong = {
      'a number': 1, 'a text': 'x', 'an array': [], null: null, 'settings 1': { settings: 1 }, 'settings null': { settings: null },
      'custom settings 1': { remoteCustomSettings: 1 }, 'eleven custom settings': { remoteCustomSettings: Array(11).fill(20) },
      'invalid frames -1': { maxSessionInvalidFrames: -1 }, 'invalid frames x': { maxSessionInvalidFrames: 'x' }, 'invalid frames 1.5': { maxSessionInvalidFrames: 1.5 },
      'rejected streams -1': { maxSessionRejectedStreams: -1 }, 'rejected streams x': { maxSessionRejectedStreams: 'x' },
      'unknown protocol -1': { unknownProtocolTimeout: -1 }, 'unknown protocol x': { unknownProtocolTimeout: 'x' }
    }
    for (const [label, options] of Object.entries(wrong)) t.attempt(log, label, () => http2.createServer(options))
  },
  'options of a secure server of a wrong type are refused': async (http2, t) => {
    const log = t.log('module')
    const wrong = {
      'a number': 1, 'a text': 'x', 'settings 1': { settings: 1 }, 'invalid frames -1': { maxSessionInvalidFrames: -1 },
      'a key that is none': { key: 'x', cert: 'y' }, 'rejected streams x': { maxSessionRejectedStreams: 'x' }
    }
    for (const [label, options] of Object.entries(wrong)) t.attempt(log, label, () => http2.createSecureServer(options))
  },
  'good options are taken': async (http2, t) => {
    const log = t.log('module')
    const good = {
      none: undefined, empty: {}, settings: { settings: { initialWindowSize: 100_000 } }, frames: { maxSessionInvalidFrames: 10 },
      memory: { maxSessionMemory: 20 }, pairs: { maxHeaderListPairs: 64 }, pings: { maxOutstandingPings: 5 }, padding: { paddingStrategy: 0 }, peer: { peerMaxConcurrentStreams: 50 }
    }
    for (const [label, options] of Object.entries(good)) t.attempt(log, label, () => http2.createServer(options))
  }
}

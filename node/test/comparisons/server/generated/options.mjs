// Every option of a server, and every setting, x every kind of value: taken, or refused with which words.
import { cert, key } from '../stage.mjs'
import { VALUES, refusal } from '../values.mjs'

const OF_BOTH = [
  'maxDeflateDynamicTableSize', 'maxSettings', 'maxSessionMemory', 'maxHeaderListPairs', 'maxOutstandingPings', 'maxSendHeaderBlockLength',
  'paddingStrategy', 'peerMaxConcurrentStreams', 'maxSessionInvalidFrames', 'maxSessionRejectedStreams', 'settings', 'streamResetBurst',
  'streamResetRate', 'Http1IncomingMessage', 'Http1ServerResponse', 'Http2ServerRequest', 'Http2ServerResponse', 'unknownProtocolTimeout',
  'remoteCustomSettings', 'strictFieldWhitespaceValidation'
]
const OF_SECURE = [
  'allowHTTP1', 'origins', 'cert', 'key', 'ca', 'pfx', 'passphrase', 'ciphers', 'minVersion', 'maxVersion', 'ALPNProtocols', 'SNICallback', 'ALPNCallback',
  'requestCert', 'rejectUnauthorized', 'handshakeTimeout', 'sessionTimeout', 'ticketKeys', 'ecdhCurve', 'dhparam', 'honorCipherOrder', 'sessionIdContext'
]
const OF_SETTINGS = ['headerTableSize', 'enablePush', 'initialWindowSize', 'maxFrameSize', 'maxConcurrentStreams', 'maxHeaderListSize', 'maxHeaderSize', 'enableConnectProtocol', 'customSettings']

/** Whether a server is made of `options`, or with which words it is refused; and whether it listens with them. */
async function make (stage, http2, call, options) {
  const log = stage.log('server')
  let server
  try {
    server = http2[call](options)
    log('taken', server.constructor.name, server.timeout)
  } catch (error) {
    log('refused', refusal(error))
    return
  }
  try {
    await stage.listen(server)
    log('listens')
  } catch (error) {
    log('does not listen', refusal(error))
  }
}

const programs = {}
for (const [value, given] of Object.entries(VALUES)) {
  for (const name of OF_BOTH) programs[`createServer, ${name}: ${value}`] = (http2, t) => make(t, http2, 'createServer', { [name]: given })
  for (const name of [...OF_BOTH, ...OF_SECURE]) programs[`createSecureServer, ${name}: ${value}`] = (http2, t) => make(t, http2, 'createSecureServer', { key, cert, [name]: given })
  for (const call of ['createServer', 'createSecureServer']) programs[`${call}, options: ${value}`] = (http2, t) => make(t, http2, call, given)
  for (const name of OF_SETTINGS) {
    programs[`settings, ${name}: ${value}`] = (http2, t) => make(t, http2, 'createServer', { settings: { [name]: given } })
    programs[`getPackedSettings, ${name}: ${value}`] = (http2, t) => {
      const log = t.log('packed')
      try {
        log(http2.getPackedSettings({ [name]: given }).toString('hex'))
      } catch (error) {
        log('refused', refusal(error))
      }
    }
  }
}
export default programs

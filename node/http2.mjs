// The whole of node:http2 over the engine: `import http2 from 'trunkline/http2'`.
import http2 from './dist/http2/module.js'
export const {
  Http2ServerRequest, Http2ServerResponse, connect, constants, createSecureServer, createServer, getDefaultSettings, getPackedSettings,
  getUnpackedSettings, performServerHandshake, sensitiveHeaders
} = http2
export default http2

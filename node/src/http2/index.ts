// The replacement of node:http2: all of its exports, with our servers.

import nodeHttp2 from 'node:http2'
import { createSecureServer, createServer, performServerHandshake } from './server'

export { createSecureServer, createServer, Http2SecureServer, Http2Server } from './server'
export type { Http2SecureServerOptions, Http2ServerOptions } from './server/options'

/** The module of node, with servers of ours: `import { http2 } from 'trunkline'`. */
export const http2 = { ...nodeHttp2, createServer, createSecureServer, performServerHandshake }

// One copy of the package, however it is loaded.
import trunkline from './dist/index.js'
export const {
  Agent, Client, Dispatcher, EnvHttpProxyAgent, Http2SecureServer, Http2Server, Pool, ProxyAgent, Response,
  buildConnector, connect, createSecureContext, createSecureServer, createServer, errors, fetchOver, file, http2, installGlobal, pipeline,
  request, serve, stream, upgrade
} = trunkline
export default trunkline

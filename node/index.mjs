// One copy of the package, however it is loaded.
import trunkline from './dist/index.js'
export const {
  Agent, Client, Dispatcher, EnvHttpProxyAgent, FormData, Headers, Http2SecureServer, Http2Server, OPENMETRICS_TYPE, Pool, ProxyAgent, Request, Response,
  buildConnector, connect, createSecureContext, createSecureServer, createServer, errors, fetch, fetchOver, file, http2, installGlobal, metrics,
  pipeline, registerMetrics, request, serve, stream, upgrade
} = trunkline
export default trunkline

// One copy of the package, however it is loaded.
import trunkline from './dist/index.js'
export const {
  Agent, Client, Dispatcher, EnvHttpProxyAgent, Pool, ProxyAgent, Response, errors, installGlobal, request, serve
} = trunkline
export default trunkline

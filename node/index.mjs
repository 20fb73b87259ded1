// One copy of the package, however it is loaded.
import trunkline from './dist/index.js'
export const { Agent, Client, Pool, Dispatcher, Response, errors, installGlobal, request, serve } = trunkline
export default trunkline

// Options of a server of node:http, its members and what `listen` takes, each with values of every kind: what is thrown, and
// the answer that a client gets.
import { once } from 'node:events'
import { closingSocket } from '../stage.mjs'
import { CLOSE, get, readable } from '../wire.mjs'

const VALUES = [0, 1, 0.5, 1.5, -1, 1000, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER, 1e21, Infinity, -Infinity, NaN, '1', '', null, true, false, undefined, {}]
const OPTIONS = [
  'maxHeaderSize', 'headersTimeout', 'requestTimeout', 'keepAliveTimeout', 'keepAliveTimeoutBuffer', 'connectionsCheckingInterval', 'keepAlive', 'keepAliveInitialDelay', 'noDelay',
  'insecureHTTPParser', 'requireHostHeader', 'joinDuplicateHeaders', 'rejectNonStandardBodyWrites', 'shouldUpgradeCallback', 'optimizeEmptyRequests', 'uniqueHeaders'
]
const MEMBERS = ['headersTimeout', 'requestTimeout', 'keepAliveTimeout', 'maxHeadersCount', 'maxRequestsPerSocket', 'maxConnections', 'keepAliveTimeoutBuffer', 'dropMaxConnection']
const LISTEN = ['backlog', 'exclusive', 'ipv6Only', 'port']
/** Values of members of which a timer of node's makes an exception of the process, or the answer a matter of time. */
const isRacing = (kind, name, value) => kind === 'member' && ['headersTimeout', 'requestTimeout'].includes(name) && !(typeof value === 'number' && Number.isInteger(value) && value >= 0 && value !== 1)
/** A port of its own is that of another program. */
const isPort = (name, value) => name === 'port' && (Number(value) === 1 || Number(value) === 1000)

const labelOf = value => typeof value === 'string' ? JSON.stringify(value) : typeof value === 'object' && value !== null ? '{}' : String(value)

const program = (kind, name, value) => async (http, t) => {
  const log = t.log('server')
  const place = { port: 0, host: '127.0.0.1', ...(kind === 'listen' ? { [name]: value } : {}) }
  let server
  try {
    server = http.createServer(kind === 'option' ? { [name]: value } : {}, (request, response) => { response.end(`ok ${request.rawHeaders.length}`) })
    if (kind === 'member') server[name] = value
    t.servers.push(server)
    const listening = once(server, 'listening')
    server.listen(place)
    await listening
  } catch (error) {
    return log('throws', error)
  }
  const socket = await t.dial(server.address().port)
  let text = ''
  socket.on('data', piece => { text += piece.toString('latin1') })
  socket.write(get('/', CLOSE))
  await closingSocket(socket)
  t.log('client')(readable(text, false))
}

const programs = {}
for (const [kind, names] of Object.entries({ option: OPTIONS, member: MEMBERS, listen: LISTEN })) {
  for (const name of names) {
    for (const value of VALUES) if (!isRacing(kind, name, value) && !isPort(name, value)) programs[`${kind} ${name}, ${labelOf(value)}`] = program(kind, name, value)
  }
}
export default programs

// Options of a server and of its WebSockets with values of every kind: whether it is made, and what it answers. The words of
// refusals are each one's own.
const VALUES = [0, 1, 0.5, 1.5, -1, 255, 256, 1000, 2 ** 31 - 1, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, 1e21, Infinity, NaN, '1', '', null, undefined, true, false, {}]
const OPTIONS = ['idleTimeout', 'maxRequestBodySize', 'development', 'reusePort', 'ipv6Only', 'id', 'hostname', 'port', 'error', 'websocket', 'routes', 'static', 'tls']
const SOCKETS = ['maxPayloadLength', 'backpressureLimit', 'closeOnBackpressureLimit', 'idleTimeout', 'perMessageDeflate', 'sendPings', 'publishToSelf']
/** A port that is named, or that is used where none is named, may be that of another program. */
const isPort = (name, value) => name === 'port' && value !== '' && (value == null || Number(value) > 0 && Number(value) < 65_536)

const labelOf = value => typeof value === 'string' ? JSON.stringify(value) : typeof value === 'object' && value !== null ? '{}' : String(value)

const program = options => async (of, t) => {
  let server
  try {
    server = t.serve(of, { fetch: () => new of.Response('ok'), ...options })
  } catch {
    return t.log('server')('throws')
  }
  try {
    await server.listening
  } catch {
    return t.log('server')('does not listen')
  }
  await t.ask(server)
}

const programs = {}
for (const value of VALUES) {
  for (const name of OPTIONS) if (!isPort(name, value)) programs[`${name}, ${labelOf(value)}`] = program({ [name]: value })
  for (const name of SOCKETS) programs[`websocket.${name}, ${labelOf(value)}`] = program({ websocket: { message () {}, [name]: value } })
}
export default programs

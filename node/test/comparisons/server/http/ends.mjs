// The ends of connections, by either side and at each moment of an exchange, as listeners of the socket, of its request and of its
// response have them, and as the client sees them.
import { once } from 'node:events'
import { closing } from '../stage.mjs'
import { get, raw } from '../wire.mjs'

/** The moments, by what the client has got then. */
const MOMENTS = { 'before the answer': '', 'behind a piece': 'piece', 'behind the answer': 'whole' }
const ACTS = {
  'the server resets': ({ own }) => { own.resetAndDestroy() },
  'the server resets twice': ({ own }) => { own.resetAndDestroy().resetAndDestroy() },
  'the server destroys': ({ own }) => { own.destroy() },
  'the server destroys, and resets': ({ own }) => { own.destroy().resetAndDestroy() },
  'the server destroys with an error': ({ own }) => { own.destroy(new Error('ours')) },
  'the server destroys soon': ({ own }) => { own.destroySoon() },
  'the server ends': ({ own }) => { own.end() },
  'the client ends': ({ client }) => { client.end() },
  'the client destroys': ({ client }) => { client.destroy() },
  'the client resets': ({ client }) => { client.resetAndDestroy() }
}

const ended = (part, act) => async (http, t) => {
  let came
  const arrived = new Promise(resolve => { came = resolve })
  await raw((server, { log }) => {
    server.on('request', (request, response) => {
      const { socket } = request
      t.watch(t.log('socket'), socket, 'socket', ['end', 'finish', 'error', 'close'], (event, given) => [given instanceof Error ? given : given === true, socket.destroyed, socket.readableEnded, socket.writableFinished])
      t.watch(log, request, 'request', ['aborted', 'error', 'close'], (event, error) => [error ?? '', request.complete])
      t.watch(log, response, 'response', ['finish', 'close'])
      came(socket)
      if (part === 'piece') response.write('piece')
      if (part === 'whole') response.end('whole')
    })
  }, get('/a'), {
    act: async (client, { until }) => {
      t.watch(t.log('client'), client, 'client', ['end', 'error'], (event, error) => [error?.code ?? ''])
      const own = await arrived
      if (part !== '') await until(part)
      if (part === 'whole' && own._httpMessage) await once(own._httpMessage, 'close')
      const over = closing(own)
      act({ own, client })
      // A server that is closed before would end it.
      await over
    }
  })(http, t)
}

const programs = {}
for (const [moment, part] of Object.entries(MOMENTS)) {
  for (const [what, act] of Object.entries(ACTS)) programs[`${moment}, ${what}`] = ended(part, act)
}
export default programs

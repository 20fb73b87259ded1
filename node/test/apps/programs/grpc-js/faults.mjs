// Connections that end, are drained, replaced or forgotten.
import { once } from 'node:events'
import net from 'node:net'
import { ask, followed, having } from './calls.mjs'
import { grpc } from './service.mjs'

const soon = ms => new Promise(resolve => { setTimeout(resolve, ms) })
const codeOf = answer => answer.failed?.[0] ?? answer
/** A call that waits for a connection. */
const patiently = async (client, request) => {
  await new Promise(resolve => { client.waitForReady(Date.now() + 20_000, resolve) })
  return ask(client, 'unary', request, { deadline: Date.now() + 20_000 })
}

/** Carries connections to `port` until `forget`: from then on bytes of those that exist go nowhere, and no end is passed on. */
async function natBefore (port) {
  const links = new Set()
  const server = net.createServer(near => {
    const far = net.connect(port, '127.0.0.1')
    const link = { near, far, isForgotten: false }
    links.add(link)
    for (const [from, to] of [[near, far], [far, near]]) {
      from.on('data', bytes => { if (!link.isForgotten) to.write(bytes) })
      from.on('error', () => {})
      from.on('close', () => { if (!link.isForgotten) to.destroy() })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: server.address().port,
    get count () { return links.size },
    forget () { for (const link of links) link.isForgotten = true },
    close () { for (const { near, far } of links) { near.destroy(); far.destroy() } server.close() }
  }
}

/** A held call that has answered once. */
async function holding (client, name) {
  const call = client.held(grpc.Metadata.fromHttp2Headers({ 'x-name': name ?? 'held' }))
  const first = once(call, 'data')
  const all = followed(call)
  call.write('first')
  await first
  return { call, all }
}

const statusOf = ({ events }) => events.find(([kind]) => kind === 'status')[1]

function pings ({ ports, control }) {
  const alive = { 'grpc.keepalive_time_ms': 100, 'grpc.keepalive_timeout_ms': 5000, 'grpc.keepalive_permit_without_calls': 1 }
  const quick = { 'grpc.keepalive_time_ms': 200, 'grpc.keepalive_timeout_ms': 200, 'grpc.keepalive_permit_without_calls': 1 }
  const noted = async name => {
    for (;;) {
      const all = await control('seen', name)
      if (all.length > 0) return all
      await soon(20)
    }
  }
  return {
    'pings of the client during a call': () => having(ports.clear, async client => {
      const { call, all } = await holding(client)
      await soon(600)
      call.end()
      return statusOf(await all)
    }, { options: alive }),
    'pings of the client without calls': () => having(ports.clear, async client => {
      const before = await ask(client, 'unary', 'before')
      await soon(600)
      return [before, await ask(client, 'unary', 'behind')]
    }, { options: alive }),
    'pings of the server': () => having(ports.pinging, async client => {
      const { call, all } = await holding(client)
      await soon(600)
      call.end()
      return [statusOf(await all), await ask(client, 'unary', 'behind')]
    }),
    'a connection that a NAT forgets, found by pings of the client': async () => {
      const nat = await natBefore(ports.clear)
      const outcome = await having(nat.port, async client => {
        const { all } = await holding(client)
        nat.forget()
        const { events } = await all
        const status = events.at(-1)
        return [status, await patiently(client, 'behind'), nat.count]
      }, { options: quick })
      nat.close()
      return outcome
    },
    'a connection that a NAT forgets, found by pings of the server': async () => {
      const nat = await natBefore(ports.patient)
      const outcome = await having(nat.port, async client => {
        await holding(client, 'forgotten')
        nat.forget()
        return noted('forgotten')
      })
      nat.close()
      return outcome
    },
    'a connection that is cut': async () => {
      const nat = await natBefore(ports.clear)
      const outcome = await having(nat.port, async client => {
        const { all } = await holding(client, 'cut')
        // Bytes that are under way, an acknowledgement for example, would make a reset of the end.
        await soon(300)
        nat.close()
        return [(await all).events.at(-1), await noted('cut')]
      })
      return outcome
    }
  }
}

function lives ({ ports, control }) {
  return {
    'connections that grow old': () => having(ports.aging, async client => {
      const { call, all } = await holding(client)
      const answers = []
      for (let at = 0; at < 20; at++) {
        answers.push(codeOf(await patiently(client, `n${at}`)))
        await soon(50)
      }
      call.write('second')
      call.end()
      return [answers, (await all).events]
    }),
    'connections that are idle': () => having(ports.idling, async client => {
      const first = await ask(client, 'unary', 'first')
      await soon(600)
      return [first, await patiently(client, 'second')]
    }),
    'a server that shuts down during a call': async () => {
      const port = await control('open', 'shut')
      return having(port, async client => {
        const { call, all } = await holding(client)
        const down = control('shutDown', 'shut')
        await soon(200)
        call.write('second')
        call.end()
        return [(await all).events, await down, codeOf(await ask(client, 'unary', 'late', { deadline: Date.now() + 5000 }))]
      })
    },
    'a server that is ended by force': async () => {
      const port = await control('open', 'forced')
      return having(port, async client => {
        const { all } = await holding(client)
        await control('force', 'forced')
        return statusOf(await all)
      })
    },
    'a server that starts again on its port': async () => {
      const port = await control('open', 'again')
      return having(port, async client => {
        const answers = [await ask(client, 'unary', 'one')]
        for (let at = 0; at < 3; at++) {
          await control('force', 'again')
          await control('open', 'again', port)
          answers.push(await patiently(client, `again ${at}`))
        }
        return answers
      }, { options: { 'grpc.initial_reconnect_backoff_ms': 50, 'grpc.min_reconnect_backoff_ms': 50, 'grpc.max_reconnect_backoff_ms': 100 } })
    }
  }
}

function drained ({ ports, control }) {
  return {
    'a port that is drained': async () => {
      const port = await control('open', 'drained')
      return having(port, async client => {
        const { call, all } = await holding(client)
        await control('drain', 'drained', port, 30_000)
        await soon(200)
        call.write('second')
        call.end()
        return (await all).events
      })
    },
    'a port that is drained without patience': async () => {
      const port = await control('open', 'hasty')
      return having(port, async client => {
        const { all } = await holding(client)
        await control('drain', 'hasty', port, 100)
        return statusOf(await all)
      })
    },
    'a port on which no server is': async () => {
      const port = await control('open', 'gone')
      await control('force', 'gone')
      return having(port, async client => codeOf(await ask(client, 'unary', 'x')))
    },
    'the states of a channel': () => having(ports.clear, async client => {
      const channel = client.getChannel()
      const states = [channel.getConnectivityState(false)]
      channel.getConnectivityState(true)
      while (states.at(-1) !== 2) {
        await new Promise(resolve => { channel.watchConnectivityState(states.at(-1), Date.now() + 10_000, resolve) })
        states.push(channel.getConnectivityState(false))
      }
      client.close()
      states.push(channel.getConnectivityState(false))
      return states
    })
  }
}

export const faults = given => ({ ...pings(given), ...lives(given), ...drained(given) })

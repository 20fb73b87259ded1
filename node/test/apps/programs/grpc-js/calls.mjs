// Calls of which nothing goes wrong below gRPC. Each case is a function that gives plain values.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { definition, grpc, UNLIMITED } from './service.mjs'

const require = createRequire(import.meta.url)
export const Client = grpc.makeGenericClientConstructor(definition, 'row.Row')
const masked = (text = 'no text') => text.replace(/Deadline exceeded after.*/, 'Deadline exceeded').replaceAll(/127\.0\.0\.1:\d+/g, 'ADDRESS').replaceAll(/\d\d\d\d-\d\d-\d\dT[\d:.]+Z/g, 'DATE').replaceAll(/\d+\.\d+s/g, 'SECONDS')
/** A status without its moment. */
export function failure ({ code, details, message, metadata }) {
  const { date, ...fields } = metadata?.getMap() ?? {}
  return [code, masked(details ?? message), fields]
}

/** The answer of a unary call, or its failure. */
export function ask (client, name, request, { metadata = {}, ...options } = {}) {
  const sent = metadata instanceof grpc.Metadata ? metadata : grpc.Metadata.fromHttp2Headers(metadata)
  return new Promise(resolve => {
    client[name](request, sent, options, (error, answer) => {
      if (error) return resolve({ failed: failure(error) })
      resolve(answer.length > 500 ? answer.length : answer.toString())
    })
  })
}

/** The events of a call whose answers are a stream; `count` of messages at the end. */
export function followed (call, { keep = 5 } = {}) {
  return new Promise(resolve => {
    const events = []
    let count = 0
    let bytes = 0
    call.on('metadata', metadata => { events.push(['metadata', Object.keys(metadata.getMap()).sort()]) })
    call.on('data', message => { bytes += message.length; if (count++ < keep) events.push(['data', message.length > 50 ? message.length : message.toString()]) })
    let isWhole = false
    // 'end' and 'status' have no order that either module promises.
    call.on('end', () => { isWhole = true })
    call.on('error', error => { events.push(['error', ...failure(error)]) })
    call.on('status', ({ code, details }) => { events.push(['status', code, masked(details)]); setImmediate(() => { resolve({ events, count, bytes, isWhole }) }) })
  })
}

/** Runs `work` with a client of its own. */
export async function having (port, work, { options = {}, tls, address = `localhost:${port}` } = {}) {
  const credentials = tls === undefined ? grpc.credentials.createInsecure() : grpc.credentials.createSsl(Buffer.from(tls.cert))
  const client = new Client(address, credentials, { ...UNLIMITED, 'grpc.use_local_subchannel_pool': 1, ...options })
  try { return await work(client) } finally { client.close() }
}

const configured = methodConfig => ({ 'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ pick_first: {} }], methodConfig: [{ name: [{ service: 'row.Row' }], ...methodConfig }] }) })
const retrying = (maxAttempts, codes = ['UNAVAILABLE']) => configured({ retryPolicy: { maxAttempts, initialBackoff: '0.01s', maxBackoff: '0.05s', backoffMultiplier: 2, retryableStatusCodes: codes } })
const hedging = (maxAttempts, hedgingDelay = '0.1s') => configured({ hedgingPolicy: { maxAttempts, hedgingDelay, nonFatalStatusCodes: ['UNAVAILABLE'] } })

/** Answers and then a failure, which come together. */
const failing = client => followed(client.fails('5 10'))

/** Calls that every transport has; `open` runs work with a client. */
function plain (open) {
  return {
    'unary with metadata of text and bytes': () => open(async client => {
      const metadata = new grpc.Metadata()
      metadata.add('x-there', 'one')
      metadata.add('x-there', 'two, three')
      metadata.add('x-there-bin', Buffer.from([0, 1, 2, 255]))
      metadata.add('x-there-bin', Buffer.alloc(300, 7))
      const events = []
      await new Promise(resolve => {
        const call = client.unary('hello', metadata, (error, answer) => { events.push(['answer', error, answer?.toString()]) })
        const plainly = metadata => Object.fromEntries(Object.keys(metadata.getMap()).filter(name => name !== 'date').sort().map(name => [name, metadata.get(name).map(value => value.toString('latin1'))]))
        call.on('metadata', metadata => { events.push(['metadata', plainly(metadata)]) })
        call.on('status', ({ code, details, metadata }) => { events.push(['status', code, details, plainly(metadata)]); setImmediate(resolve) })
      })
      return events
    }),
    'unary without content': () => open(client => ask(client, 'unary', '')),
    'every status': () => open(async client => {
      const all = []
      for (let code = 0; code <= 17; code++) all.push(await ask(client, 'status', String(code)))
      return all
    }),
    'a method that does not exist': () => open(client => new Promise(resolve => {
      client.makeUnaryRequest('/row.Row/Nowhere', Buffer.from, bytes => bytes, Buffer.from(''), error => { resolve(failure(error)) })
    })),
    'a stream of answers': () => open(client => followed(client.down('5 10'))),
    '1,000 answers': () => open(client => followed(client.down('1000 100'))),
    'a stream of answers of 100 KB': () => open(client => followed(client.down('200 100000'))),
    'answers and then a failure': () => open(failing),
    'no answer': () => open(client => followed(client.down('0 0'))),
    'a stream of requests': () => open(client => new Promise(resolve => {
      const call = client.up((error, answer) => { resolve(error ? failure(error) : answer.toString()) })
      for (let at = 0; at < 1000; at++) call.write(Buffer.alloc(at))
      call.end()
    })),
    'both streams at once': () => open(client => {
      const call = client.both()
      for (let at = 0; at < 100; at++) call.write(`m${at}`)
      call.end()
      return followed(call, { keep: 100 })
    }),
    'both streams by turns': () => open(client => {
      const call = client.both()
      let turn = 0
      call.on('data', () => { if (++turn === 50) call.end(); else call.write(`turn ${turn}`) })
      call.write('turn 0')
      return followed(call, { keep: 50 })
    }),
    '10,000 calls at once on one channel': () => open(async client => {
      const answers = await Promise.all(Array.from({ length: 10_000 }, (_, at) => ask(client, 'unary', `n${at}`)))
      return answers.filter((answer, at) => answer === `n${at}`).length
    }),
    '100 MB in both directions': () => open(client => new Promise(resolve => {
      const message = Buffer.alloc(100 * 1024 * 1024, 'abcdefghij')
      client.unary(message, (error, answer) => { resolve(error ? failure(error) : message.equals(answer)) })
    })),
    'the facts of a call': () => open(async client => [JSON.parse(await ask(client, 'facts', '')), JSON.parse(await ask(client, 'facts', '', { deadline: Date.now() + 60_000 }))]),
    'gzip in both directions': () => open(async client => [await ask(client, 'unary', 'z'.repeat(100_000)), await ask(client, 'unary', 'short')], { options: { 'grpc.default_compression_algorithm': 2 } }),
    'deflate in both directions': () => open(client => ask(client, 'unary', 'z'.repeat(100_000)), { options: { 'grpc.default_compression_algorithm': 1 } })
  }
}

/** Deadlines, cancellations, limits. */
function ended ({ ports, control }) {
  const clear = (work, options) => having(ports.clear, work, options)
  /** The server's notes of a name, once there are some. */
  const noted = async name => {
    for (;;) {
      const all = await control('seen', name)
      if (all.length > 0) return all
    }
  }
  const named = (name, options = {}) => ({ metadata: { 'x-name': name }, ...options })
  return {
    'a deadline that passes': () => clear(async client => [(await ask(client, 'late', '', named('deadline', { deadline: Date.now() + 200 }))).failed[0], await noted('deadline')]),
    'a deadline that has passed': () => clear(async client => (await ask(client, 'late', '', { deadline: Date.now() - 1000 })).failed[0]),
    'a unary call that is cancelled': () => clear(async client => {
      const metadata = grpc.Metadata.fromHttp2Headers({ 'x-name': 'cancel' })
      const ended = new Promise(resolve => {
        const call = client.late('', metadata, error => { resolve(failure(error)) })
        setTimeout(() => { call.cancel() }, 100)
      })
      return [await ended, await noted('cancel')]
    }),
    'a call that is cancelled at once': () => clear(client => new Promise(resolve => { client.late('', error => { resolve(failure(error)) }).cancel() })),
    'a stream that is cancelled': () => clear(async client => {
      const call = client.endless('', grpc.Metadata.fromHttp2Headers({ 'x-name': 'stream' }))
      call.once('data', () => { call.cancel() })
      const { events } = await followed(call, { keep: 0 })
      return [events, await noted('stream')]
    }),
    'a client that closes': async () => {
      let call
      const events = await clear(async client => { call = client.held(); const all = followed(call); call.write('a'); await new Promise(resolve => { call.once('data', resolve) }); call.end(); return all })
      return events
    },
    'a request over the limit of the server': () => having(ports.limited, async client => [await ask(client, 'unary', 'x'.repeat(990)), await ask(client, 'unary', 'x'.repeat(1001)), await ask(client, 'unary', 'x'.repeat(100_000))]),
    'an answer over the limit of the server': () => having(ports.limited, async client => [await ask(client, 'sized', '2000'), await ask(client, 'sized', '2001')]),
    'an answer over the limit of the client': () => clear(async client => [await ask(client, 'sized', '1000'), await ask(client, 'sized', '1001'), await ask(client, 'sized', '1000000')], { options: { 'grpc.max_receive_message_length': 1000 } }),
    'a request over the limit of the client': () => clear(client => ask(client, 'unary', 'x'.repeat(1001)), { options: { 'grpc.max_send_message_length': 1000 } }),
    'metadata over the limit of heads': () => clear(async client => (await ask(client, 'unary', 'x', { metadata: { 'x-there': 'y'.repeat(200_000) } })).failed?.[0] ?? 'answered'),
    'more calls than streams': () => having(ports.few, async client => {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => ask(client, 'unary', `n${at}`)))
      return answers.filter((answer, at) => answer === `n${at}`).length
    })
  }
}

/** Service configs. */
function repeated ({ ports, control }) {
  const tried = async (name, request, options) => {
    await control('forget', name)
    const answer = await having(ports.clear, client => ask(client, 'flaky', request, { metadata: { 'x-name': name }, deadline: Date.now() + 20_000 }), { options })
    return [answer, await control('seen', name)]
  }
  return {
    'a retry': () => tried('retry', 'fail 2', retrying(4)),
    'retries that are used up': () => tried('used', 'fail 9', retrying(3)),
    'no retry of another status': () => tried('other', 'fail 1', retrying(3, ['ABORTED'])),
    'retries that are switched off': () => tried('off', 'fail 1', { ...retrying(3), 'grpc.enable_retries': 0 }),
    'hedging after a silence': () => tried('hedge', 'hang 1', hedging(3)),
    'hedging after failures': () => tried('hedged', 'fail 2', hedging(4, '10s'))
  }
}

/** Services that a server has beside its own. */
function beside ({ ports, control }) {
  const load = (name, of) => grpc.loadPackageDefinition(require('@grpc/proto-loader').loadSync(require.resolve(name), { longs: Number, enums: String, oneofs: true, ...of }))
  const insecure = grpc.credentials.createInsecure()
  const one = (client, name, request) => new Promise(resolve => { client[name](request, (error, answer) => { resolve(error ? failure(error) : answer) }) })
  return {
    health: async () => {
      const { Health } = load('grpc-health-check/proto/health/v1/health.proto').grpc.health.v1
      const client = new Health(`localhost:${ports.clear}`, insecure)
      const answers = [await one(client, 'check', { service: '' }), await one(client, 'check', { service: 'row' }), await one(client, 'check', { service: 'none' })]
      const watch = client.watch({ service: 'watched' })
      watch.on('error', () => {})
      const statuses = []
      await new Promise(resolve => {
        watch.on('data', ({ status }) => {
          statuses.push(status)
          if (statuses.length === 3) resolve()
          else control('health', 'watched', statuses.length === 1 ? 'SERVING' : 'NOT_SERVING')
        })
      })
      watch.cancel()
      client.close()
      return [answers, statuses]
    },
    reflection: async () => {
      const path = join(dirname(require.resolve('@grpc/reflection/package.json')), 'build/proto/grpc/reflection/v1/reflection.proto')
      const { ServerReflection } = load(path).grpc.reflection.v1
      const client = new ServerReflection(`localhost:${ports.clear}`, insecure)
      const call = client.serverReflectionInfo()
      const answers = []
      call.on('data', answer => {
        const files = answer.fileDescriptorResponse?.fileDescriptorProto
        answers.push(answer.listServicesResponse ?? files?.map(file => file.length) ?? answer.errorResponse)
        if (answers.length === 3) call.end()
      })
      for (const request of [{ listServices: '' }, { fileContainingSymbol: 'grpc.health.v1.Health' }, { fileContainingSymbol: 'none.None' }]) call.write({ host: '', ...request })
      await new Promise(resolve => { call.on('end', resolve) })
      client.close()
      return answers
    },
    channelz: () => channelz({ ports, insecure, one, load })
  }
}

/** The sockets and the counts that channelz has of the server and of this client. */
async function channelz ({ ports, insecure, one, load }) {
  const { Channelz } = load('@grpc/grpc-js/proto/channelz.proto', { includeDirs: [require.resolve('@grpc/grpc-js').replace(/build.*/, 'proto')] }).grpc.channelz.v1
  const client = new Channelz(`localhost:${ports.clear}`, insecure, { 'grpc.use_local_subchannel_pool': 1 })
  const { server: servers } = await one(client, 'getServers', { startServerId: 0, maxResults: 0 })
  const found = []
  for (const { ref, data, listenSocket } of servers) found.push({ listening: listenSocket.length, hasCalls: data.callsStarted > 0, isWhole: data.callsStarted >= data.callsSucceeded + data.callsFailed, ref: typeof ref.serverId })
  const { socketRef } = await one(client, 'getServerSockets', { serverId: servers[0].ref.serverId, startSocketId: 0, maxResults: 0 })
  const { socket } = await one(client, 'getSocket', { socketId: socketRef.at(-1).socketId })
  const addressOf = address => address && [address.address, address.tcpipAddress?.ipAddress.length, address.tcpipAddress?.port > 0]
  const counts = Object.fromEntries(Object.entries(socket.data).filter(([, value]) => typeof value === 'number'))
  client.close()
  return { found: found.slice(0, 1), counts, local: addressOf(socket.local), remote: addressOf(socket.remote), security: socket.security?.model ?? null }
}

/** Certificates, names, addresses. */
function reached ({ ports, tls, scratch, authority }) {
  const answers = credentials => async (port, options) => {
    const client = new Client(`localhost:${port}`, credentials, { 'grpc.use_local_subchannel_pool': 1, ...options })
    const answer = await ask(client, 'facts', '', { deadline: Date.now() + 10_000 })
    client.close()
    return typeof answer === 'string' ? JSON.parse(answer) : [answer.failed[0], answer.failed[1].replaceAll(/\(.*|\[::1\].*| Last error.*/g, '')]
  }
  const certificate = Buffer.from(tls.cert)
  const key = Buffer.from(tls.key)
  return {
    'a client with a certificate': () => answers(grpc.credentials.createSsl(certificate, key, certificate))(ports.mutual),
    'a client without a certificate': async () => (await answers(grpc.credentials.createSsl(certificate))(ports.mutual))[0],
    'a server of an unknown authority': async () => (await answers(grpc.credentials.createSsl(Buffer.from(authority)))(ports.tls))[0],
    'a name that the certificate has not': async () => (await answers(grpc.credentials.createSsl(certificate))(ports.tls, { 'grpc.ssl_target_name_override': 'wrong.test' }))[0],
    'another name of the certificate': () => answers(grpc.credentials.createSsl(certificate))(ports.tls, { 'grpc.ssl_target_name_override': 'other.test', 'grpc.default_authority': 'other.test' }),
    'a clear client at a server of TLS': async () => (await answers(grpc.credentials.createInsecure())(ports.tls))[0],
    'credentials of a call': async () => {
      const perCall = grpc.credentials.createFromMetadataGenerator((_, done) => { done(null, grpc.Metadata.fromHttp2Headers({ 'x-there': 'secret' })) })
      const client = new Client(`localhost:${ports.tls}`, grpc.credentials.combineChannelCredentials(grpc.credentials.createSsl(certificate), perCall))
      const back = await new Promise(resolve => { client.unary('', () => {}).on('metadata', metadata => { resolve(metadata.get('x-back')) }) })
      client.close()
      return back
    },
    'a Unix socket': () => having(0, client => ask(client, 'unary', 'by path'), { address: `unix:${scratch}/grpc.sock` })
  }
}

const prefixed = (prefix, all) => Object.fromEntries(Object.entries(all).map(([name, run]) => [`${prefix}${name}`, run]))

export function calls (given) {
  const { ports, tls } = given
  return {
    ...prefixed('clear: ', plain((work, options) => having(ports.clear, work, options))),
    ...prefixed('TLS: ', plain((work, options) => having(ports.tls, work, { tls, ...options }))),
    ...ended(given), ...repeated(given), ...beside(given), ...reached(given)
  }
}

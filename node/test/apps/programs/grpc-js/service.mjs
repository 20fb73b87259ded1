// The service that the calls of `calls.mjs` and `faults.mjs` use: messages are text, so that no code is generated.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
export const grpc = require('@grpc/grpc-js')
export const UNLIMITED = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 }

const text = { requestSerialize: Buffer.from, requestDeserialize: bytes => bytes, responseSerialize: Buffer.from, responseDeserialize: bytes => bytes }
const method = (name, requestStream, responseStream) => ({ path: `/row.Row/${name}`, requestStream, responseStream, ...text })
export const definition = {
  unary: method('Unary', false, false), status: method('Status', false, false), down: method('Down', false, true), up: method('Up', true, false),
  both: method('Both', true, true), late: method('Late', false, false), flaky: method('Flaky', false, false), facts: method('Facts', false, false),
  sized: method('Sized', false, false), endless: method('Endless', false, true), fails: method('Fails', false, true), held: method('Held', true, true)
}

/** Notes of cancelled calls and of attempts, by name. */
const seen = new Map()
const note = (name, value) => { seen.set(name, [...seen.get(name) ?? [], value]) }
const nameOf = call => String(call.metadata.get('x-name')[0] ?? 'unnamed')
const followed = call => { call.on('cancelled', () => { note(nameOf(call), 'cancelled') }) }

const methods = {
  unary (call, done) {
    const sent = new grpc.Metadata()
    for (const value of call.metadata.get('x-there')) sent.add('x-back', value)
    for (const value of call.metadata.get('x-there-bin')) sent.add('x-back-bin', value)
    call.sendMetadata(sent)
    const trailers = new grpc.Metadata()
    trailers.set('x-behind', 'yes')
    trailers.set('x-behind-bin', Buffer.from([0, 128, 255]))
    done(null, call.request, trailers)
  },
  status (call, done) {
    const metadata = new grpc.Metadata()
    metadata.set('x-why', 'asked')
    done({ code: Number(call.request.toString()), details: `wie gewünscht: 100 % \n ${call.request}`, metadata })
  },
  down (call) {
    const [count, length] = call.request.toString().split(' ').map(Number)
    let at = 0
    const more = () => {
      while (at < count) if (!call.write(Buffer.alloc(length, at++ % 256))) return call.once('drain', more)
      call.end()
    }
    more()
  },
  fails (call) {
    const [count, length] = call.request.toString().split(' ').map(Number)
    for (let at = 0; at < count; at++) call.write(Buffer.alloc(length, 'x'))
    call.emit('error', { code: grpc.status.DATA_LOSS, details: 'no more' })
  },
  up (call, done) {
    let [count, length] = [0, 0]
    call.on('data', message => { count++; length += message.length })
    call.on('end', () => { done(null, `${count} ${length}`) })
    call.on('error', () => {})
  },
  both (call) { call.on('data', message => { call.write(`back ${message}`) }); call.on('end', () => { call.end() }); call.on('error', () => {}) },
  late: followed,
  endless (call) {
    followed(call)
    const more = () => { while (!call.cancelled) if (!call.write(Buffer.alloc(1000))) return call.once('drain', more) }
    more()
  },
  held (call) {
    followed(call)
    call.on('data', message => { call.write(message) })
    call.on('end', () => { call.end() })
    call.on('error', () => {})
  },
  /** Fails as often as its message says, or does not answer the first attempts. */
  flaky (call, done) {
    const [way, times] = call.request.toString().split(' ')
    const attempts = call.metadata.get('grpc-previous-rpc-attempts').map(String)
    note(nameOf(call), attempts[0] ?? '0')
    const isFirst = seen.get(nameOf(call)).length <= Number(times)
    if (way === 'hang' && isFirst) return
    done(isFirst ? { code: grpc.status.UNAVAILABLE, details: 'not yet' } : null, `after ${attempts[0] ?? 'no'} attempts`)
  },
  facts (call, done) {
    const { peer, path, host, deadline } = { peer: call.getPeer(), path: call.getPath(), host: call.getHost?.(), deadline: call.getDeadline() }
    const security = call.getAuthContext?.()
    const certificate = security?.sslPeerCertificate?.subject?.CN
    done(null, JSON.stringify({
      peer: peer.replace(/:\d+$/, ':PEER'), path, host: host?.replace(/:\d+$/, ':PORT'), hasDeadline: Number.isFinite(Number(deadline)),
      security: security && { type: security.transportSecurityType, certificate }
    }))
  },
  sized (call, done) { done(null, Buffer.alloc(Number(call.request.toString()), 's')) }
}

const credentialsOf = ({ cert, key }) => grpc.ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(cert), private_key: Buffer.from(key) }])

/** Binds a server of the service; its port. */
export function bound (server, credentials, address = '127.0.0.1:0') {
  server.addService(definition, methods)
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error) return reject(error)
      resolve(port)
    })
  })
}

/** Servers of one release and their way to be driven. */
export async function start ({ tls, scratch }) {
  const { HealthImplementation } = require('grpc-health-check')
  const { ReflectionService } = require('@grpc/reflection')
  const loader = require('@grpc/proto-loader')
  const secure = credentialsOf(tls)
  const clear = grpc.ServerCredentials.createInsecure()
  const mutual = grpc.ServerCredentials.createSsl(Buffer.from(tls.cert), [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }], true)
  const health = new HealthImplementation({ '': 'SERVING', row: 'NOT_SERVING' })
  const ports = {}
  const servers = {}
  const add = async (name, options, credentials, address) => {
    servers[name] = new grpc.Server(options)
    if (name === 'clear') {
      health.addToServer(servers[name])
      new ReflectionService(loader.loadSync(require.resolve('grpc-health-check/proto/health/v1/health.proto'))).addToServer(servers[name])
      grpc.addAdminServicesToServer(servers[name])
    }
    ports[name] = await bound(servers[name], credentials, address)
  }
  await add('clear', UNLIMITED, clear)
  await add('tls', UNLIMITED, secure)
  await add('mutual', {}, mutual)
  await add('limited', { 'grpc.max_receive_message_length': 1000, 'grpc.max_send_message_length': 2000 }, clear)
  await add('pinging', { 'grpc.keepalive_time_ms': 100, 'grpc.keepalive_timeout_ms': 1000 }, clear)
  await add('patient', { 'grpc.keepalive_time_ms': 200, 'grpc.keepalive_timeout_ms': 200 }, clear)
  await add('aging', { 'grpc.max_connection_age_ms': 300, 'grpc.max_connection_age_grace_ms': 60_000 }, clear)
  await add('idling', { 'grpc.max_connection_idle_ms': 200 }, clear)
  await add('few', { 'grpc.max_concurrent_streams': 3 }, clear)
  await add('unix', {}, clear, `unix:${scratch}/grpc.sock`)
  const again = {}
  const control = {
    seen: name => seen.get(name) ?? [],
    forget: name => { seen.delete(name) },
    health: (name, status) => { health.setStatus(name, status) },
    /** A server that ends when its calls have, on its old port if asked. */
    open: async (name, port = 0) => {
      again[name] = new grpc.Server(UNLIMITED)
      return bound(again[name], clear, `127.0.0.1:${port}`)
    },
    shutDown: name => new Promise(resolve => { again[name].tryShutdown(error => { resolve(error?.message ?? 'shut down') }) }),
    begin: name => { again[name].tryShutdown(() => { note(name, 'shut down') }) },
    drain: (name, port, grace) => { again[name].drain(`127.0.0.1:${port}`, grace) },
    force: name => { again[name].forceShutdown() }
  }
  return { ports, control }
}

/** The text of a file of this package's tests. */
export const textOf = path => readFileSync(path, 'utf8')

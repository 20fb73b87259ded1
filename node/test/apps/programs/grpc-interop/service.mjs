// The server of gRPC's interop suite on grpc-js.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
export const grpc = require('@grpc/grpc-js')
const loaded = require('@grpc/proto-loader').loadSync(fileURLToPath(new URL('suite.proto', import.meta.url)), { keepCase: false, defaults: true, arrays: true })
export const { TestService, Absent } = grpc.loadPackageDefinition(loaded).grpc.testing

const ECHO_INITIAL = 'x-grpc-test-echo-initial'
const ECHO_TRAILING = 'x-grpc-test-echo-trailing-bin'
const UNLIMITED = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 }
const payload = size => ({ body: Buffer.alloc(size) })
/** The status that a request asks for; undefined: none. */
const askedStatus = ({ responseStatus }) => responseStatus?.code > 0 ? { code: responseStatus.code, details: responseStatus.message } : undefined

/** Sends the field that comes back in the head; the trailers with that which comes back there. */
function echoed (call) {
  const initial = call.metadata.get(ECHO_INITIAL)
  if (initial.length > 0) {
    const head = new grpc.Metadata()
    head.set(ECHO_INITIAL, initial[0])
    call.sendMetadata(head)
  }
  const trailers = new grpc.Metadata()
  const trailing = call.metadata.get(ECHO_TRAILING)
  if (trailing.length > 0) trailers.set(ECHO_TRAILING, trailing[0])
  return trailers
}

/** Writes the responses that a request asks for, one after the other. */
async function respond (call, { responseParameters }) {
  for (const { size, intervalUs } of responseParameters) {
    if (intervalUs > 0) await new Promise(resolve => { setTimeout(resolve, intervalUs / 1000) })
    if (call.cancelled) return
    await new Promise(resolve => { call.write({ payload: payload(size) }, resolve) })
  }
}

const methods = {
  emptyCall (call, done) { done(null, {}) },
  unaryCall (call, done) {
    const trailers = echoed(call)
    const status = askedStatus(call.request)
    if (status !== undefined) return done({ ...status, metadata: trailers })
    done(null, { payload: payload(call.request.responseSize), serverId: call.request.fillServerId ? 'the server' : '' }, trailers)
  },
  async streamingOutputCall (call) {
    await respond(call, call.request)
    call.end()
  },
  streamingInputCall (call, done) {
    let sum = 0
    call.on('data', ({ payload }) => { sum += payload.body.length })
    call.on('end', () => { done(null, { aggregatedPayloadSize: sum }) })
    call.on('error', () => {})
  },
  fullDuplexCall (call) {
    const trailers = echoed(call)
    let before = Promise.resolve()
    let isFailed = false
    call.on('data', request => {
      const status = askedStatus(request)
      if (status === undefined) before = before.then(() => respond(call, request))
      else if (!isFailed) before = before.then(() => { isFailed = true; call.emit('error', { ...status, metadata: trailers }) })
    })
    call.on('end', () => { before = before.then(() => { if (!isFailed) call.end(trailers) }) })
    call.on('error', () => {})
  }
}

export async function start ({ tls }) {
  const secure = grpc.ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }])
  const ports = {}
  for (const [name, credentials] of Object.entries({ clear: grpc.ServerCredentials.createInsecure(), tls: secure })) {
    const server = new grpc.Server(UNLIMITED)
    server.addService(TestService.service, methods)
    ports[name] = await new Promise((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', credentials, (error, port) => { error ? reject(error) : resolve(port) })
    })
  }
  return { ports, control: {} }
}

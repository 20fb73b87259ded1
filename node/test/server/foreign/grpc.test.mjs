// grpc-js, client and server in one process with trunkline/register: a call and a stream, in clear text and over TLS.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { buffer } from 'node:stream/consumers'
import test from 'node:test'
import { fileURLToPath } from 'node:url'

const ROLE = 'GRPC_TEST_CREDENTIALS'
const STREAMED = 50

/** Calls of every kind on a server of its own, whose sessions and those of the client are this package's. */
async function calls (isSecure) {
  const { default: grpc } = await import('@grpc/grpc-js')
  const { default: http2 } = await import('node:http2')
  const { cert, key } = await import('../../support/certificates/certificate.mjs')
  const text = { requestSerialize: Buffer.from, requestDeserialize: String, responseSerialize: Buffer.from, responseDeserialize: String }
  const method = (name, requestStream, responseStream) => ({ path: `/calls.Calls/${name}`, requestStream, responseStream, ...text })
  const definition = { unary: method('Unary', false, false), fails: method('Fails', false, false), both: method('Both', true, true), down: method('Down', false, true), held: method('Held', false, false) }
  const server = new grpc.Server({ 'grpc.keepalive_time_ms': 10_000, 'grpc.max_connection_age_ms': 60_000, 'grpc.max_concurrent_streams': 100 })
  let cancelled
  const isCancelled = new Promise(resolve => { cancelled = resolve })
  server.addService(definition, {
    unary (call, done) {
      const trailers = new grpc.Metadata()
      trailers.set('x-behind', String(call.metadata.get('x-there')))
      done(null, `back ${call.request}`, trailers)
    },
    fails (call, done) { done({ code: grpc.status.NOT_FOUND, details: 'none of that name' }) },
    down (call) { for (let at = 0; at < STREAMED; at++) call.write(`${call.request} ${at}`); call.end() },
    both (call) { call.on('data', message => { call.write(`back ${message}`) }); call.on('end', () => { call.end() }) },
    held (call) { call.on('cancelled', cancelled) }
  })
  const serverCredentials = isSecure ? grpc.ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(cert), private_key: Buffer.from(key) }]) : grpc.ServerCredentials.createInsecure()
  const port = await new Promise((resolve, reject) => { server.bindAsync('127.0.0.1:0', serverCredentials, (error, port) => { error ? reject(error) : resolve(port) }) })
  const Client = grpc.makeGenericClientConstructor(definition, 'calls.Calls')
  const credentials = isSecure ? grpc.credentials.createSsl(Buffer.from(cert)) : grpc.credentials.createInsecure()
  const client = new Client(`localhost:${port}`, credentials, { 'grpc.keepalive_time_ms': 10_000, 'grpc.enable_retries': 1 })

  const unary = (name, request, metadata = new grpc.Metadata()) => new Promise(resolve => {
    const events = []
    const call = client[name](request, metadata, (error, answer) => { events.push(error ? `${error.code} ${error.details}` : answer) })
    call.on('status', ({ code, metadata }) => { resolve([...events, code, ...metadata.get('x-behind')]) })
  })
  const streamed = call => new Promise(resolve => {
    const events = []
    call.on('data', message => { events.push(message) })
    call.on('error', error => { events.push(error.details) })
    call.on('status', ({ code }) => { resolve([...events, code]) })
  })
  const metadata = new grpc.Metadata()
  metadata.set('x-there', 'there')
  const both = client.both()
  for (let at = 0; at < 3; at++) both.write(`m${at}`)
  both.end()
  const outcome = {
    isOurs: http2.connect.toString() !== process.env.NODE_OWN_CONNECT,
    unary: await unary('unary', 'hello', metadata),
    fails: await unary('fails', 'any'),
    down: await streamed(client.down('item')),
    both: await streamed(both)
  }
  const held = client.held('any', () => {})
  const status = new Promise(resolve => { held.on('status', ({ code }) => { resolve(code) }) })
  // The call is there once one behind it is answered.
  await unary('unary', 'behind')
  held.cancel()
  outcome.cancelled = await status
  await isCancelled
  client.close()
  const error = await new Promise(resolve => { server.tryShutdown(resolve) })
  outcome.shutDown = error === undefined || error === null ? 'whole' : error.message
  return outcome
}

if (process.env[ROLE] !== undefined) {
  console.log(JSON.stringify(await calls(process.env[ROLE] === 'tls')))
  process.exit(0)
}

for (const credentials of ['none', 'tls']) {
  test(`grpc-js makes calls and streams on this package in the place of node:http2, credentials ${credentials}`, { timeout: 30_000 }, async () => {
    const { default: http2 } = await import('node:http2')
    const env = { ...process.env, [ROLE]: credentials, NODE_OWN_CONNECT: http2.connect.toString() }
    delete env.NODE_TEST_CONTEXT
    const child = spawn(process.execPath, ['--import', import.meta.resolve('trunkline/register'), fileURLToPath(import.meta.url)], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const out = String(await buffer(child.stdout))
    assert.deepEqual(JSON.parse(out), {
      isOurs: true,
      unary: ['back hello', 0, 'there'],
      fails: ['5 none of that name', 5],
      down: [...Array.from({ length: STREAMED }, (_, at) => `item ${at}`), 0],
      both: ['back m0', 'back m1', 'back m2', 0],
      cancelled: 1,
      shutDown: 'whole'
    })
  })
}

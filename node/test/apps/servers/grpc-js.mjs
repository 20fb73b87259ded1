import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const text = { requestSerialize: Buffer.from, requestDeserialize: String, responseSerialize: Buffer.from, responseDeserialize: String }
const method = (name, requestStream, responseStream) => ({ path: `/row.Row/${name}`, requestStream, responseStream, ...text })
const definition = {
  unary: method('Unary', false, false), fails: method('Fails', false, false), down: method('Down', false, true),
  up: method('Up', true, false), both: method('Both', true, true), late: method('Late', false, false)
}

const methods = grpc => ({
  unary (call, done) {
    const sent = new grpc.Metadata()
    sent.set('x-back', call.metadata.get('x-there')[0] ?? 'none')
    sent.set('x-bytes-bin', Buffer.from([0, 1, 255]))
    call.sendMetadata(sent)
    const trailers = new grpc.Metadata()
    trailers.set('x-behind', 'yes')
    done(null, `unary ${call.request.length > 100 ? call.request.length : call.request}`, trailers)
  },
  fails (call, done) { done({ code: grpc.status.NOT_FOUND, details: 'not ä found', metadata: new grpc.Metadata() }) },
  down (call) { for (let at = 0; at < 5; at++) call.write(`${call.request} ${at}`); call.end() },
  up (call, done) {
    let length = 0
    call.on('data', message => { length += message.length })
    call.on('end', () => { done(null, String(length)) })
  },
  both (call) { call.on('data', message => { call.write(`back ${message}`) }); call.on('end', () => { call.end() }) },
  late (call) { call.on('cancelled', () => {}) }
})

let grpc
let definitions

/** grpc-js makes its server by node:http2's function of that name: ours takes its place there. */
export async function start ({ own, tls, options, create }) {
  if (!own) require('node:http2').createSecureServer = (given, listener) => create(listener, { ...given, ...options })
  grpc = require('@grpc/grpc-js')
  definitions = definition
  const server = new grpc.Server()
  server.addService(definition, methods(grpc))
  const credentials = grpc.ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }])
  const port = await new Promise((resolve, reject) => { server.bindAsync('127.0.0.1:0', credentials, (error, port) => { error ? reject(error) : resolve(port) }) })
  return { port }
}

const framed = (...messages) => Buffer.concat(messages.map(message => {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(Buffer.byteLength(message), 1)
  return Buffer.concat([head, Buffer.from(message)])
}))
const ask = (name, headers, ...messages) => ({
  path: `/row.Row/${name}`, method: 'POST', headers: { 'content-type': 'application/grpc+proto', te: 'trailers', ...headers }, body: framed(...messages)
})

/** By grpc-js's own client, which speaks HTTP/2 alone. */
async function byItsClient ({ port, tls }) {
  const Client = grpc.makeGenericClientConstructor(definitions, 'row.Row')
  const client = new Client(`localhost:${port}`, grpc.credentials.createSsl(Buffer.from(tls.cert)))
  const failure = error => `${error.code} ${error.details}`
  const one = (call, ...args) => new Promise(resolve => { client[call](...args, (error, answer) => { resolve(error ? failure(error) : answer) }) })
  const all = call => new Promise(resolve => {
    const events = []
    call.on('data', message => { events.push(message) })
    call.on('error', error => { events.push(failure(error)) })
    call.on('status', ({ code }) => { events.push(code); resolve(events) })
  })
  const metadata = new grpc.Metadata()
  metadata.set('x-there', 'there')
  const outcomes = [await one('unary', 'hello', metadata), await one('fails', 'x'), await all(client.down('item')), await one('unary', 'l'.repeat(3_000_000))]
  const up = new Promise(resolve => {
    const call = client.up((error, answer) => { resolve(error ? failure(error) : answer) })
    for (let at = 0; at < 100; at++) call.write('u'.repeat(10_000))
    call.end()
  })
  outcomes.push(await up)
  const both = client.both()
  const events = all(both)
  for (let at = 0; at < 20; at++) both.write(`m${at}`)
  both.end()
  outcomes.push(await events)
  outcomes.push((await one('late', 'x', metadata, { deadline: Date.now() + 300 })).split(' ')[0])
  const many = await Promise.all(Array.from({ length: 200 }, (_, at) => one('unary', `n${at}`)))
  outcomes.push(many.filter((answer, at) => answer === `unary n${at}`).length)
  client.close()
  return outcomes
}

export const requests = [
  ask('Unary', { 'x-there': 'there' }, 'hello'), ask('Fails', {}, 'x'), ask('Down', {}, 'item'), ask('Up', {}, 'one', 'three', 'seven'), ask('Both', {}, 'a', 'b'),
  ask('Late', { 'grpc-timeout': '100m' }, 'x'), ask('Missing', {}, 'x'), { path: '/row.Row/Unary', method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' },
  { name: 'by its own client', only: ['h2'], run: byItsClient }
]

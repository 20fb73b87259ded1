// One side of the gRPC benchmark: `node grpc_peer.mjs server|client STACK`, driven by messages of its parent. A STACK is
// `node:http2` or `trunkline` below grpc-js, or `connect-node`. A server reports its port; a client answers each round.
import { createRequire } from 'node:module'

const [role, stack] = process.argv.slice(2)
if (stack === 'trunkline') await import('trunkline/register')
const require = createRequire(import.meta.url)
const identity = bytes => bytes
const plain = { requestSerialize: identity, requestDeserialize: identity, responseSerialize: identity, responseDeserialize: identity }
const definition = {
  echo: { path: '/bench.Bench/Echo', requestStream: false, responseStream: false, ...plain },
  stream: { path: '/bench.Bench/Stream', requestStream: false, responseStream: true, ...plain }
}
const MESSAGE = Buffer.alloc(100, 'm')
const STREAMED = 1000

/** Microseconds of user and kernel time of every thread. */
const cpu = () => { const { user, system } = process.cpuUsage(); return user + system }

async function grpcServer () {
  const grpc = require('@grpc/grpc-js')
  const server = new grpc.Server()
  server.addService(definition, {
    echo (call, done) { done(null, call.request) },
    stream (call) {
      let at = 0
      const more = () => {
        while (at++ < STREAMED) if (!call.write(MESSAGE)) return call.once('drain', more)
        call.end()
      }
      more()
    }
  })
  return new Promise((resolve, reject) => { server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => { error ? reject(error) : resolve(port) }) })
}

function grpcClient (port, channels) {
  const grpc = require('@grpc/grpc-js')
  const Client = grpc.makeGenericClientConstructor(definition, 'bench.Bench')
  const clients = Array.from({ length: channels }, () => new Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 }))
  return {
    echo: at => new Promise((resolve, reject) => {
      clients[at % channels].echo(MESSAGE, (error, answer) => { error ? reject(error) : answer.length === MESSAGE.length ? resolve() : reject(new Error('another length')) })
    }),
    stream: at => new Promise((resolve, reject) => {
      let count = 0
      const call = clients[at % channels].stream(MESSAGE)
      call.on('data', () => { count++ })
      call.on('error', reject)
      call.on('end', () => { count === STREAMED ? resolve() : reject(new Error(`${count} messages`)) })
    })
  }
}

/** connect's description of the same service, with a message of one field of bytes. */
async function connected () {
  const { create, createFileRegistry } = await import('@bufbuild/protobuf')
  const { BytesValueSchema, FileDescriptorProtoSchema, file_google_protobuf_wrappers: wrappers } = await import('@bufbuild/protobuf/wkt')
  const value = '.google.protobuf.BytesValue'
  const method = (name, serverStreaming) => ({ name, inputType: value, outputType: value, serverStreaming })
  const file = create(FileDescriptorProtoSchema, {
    name: 'bench.proto', package: 'bench', syntax: 'proto3', dependency: ['google/protobuf/wrappers.proto'],
    service: [{ name: 'Bench', method: [method('Echo', false), method('Stream', true)] }]
  })
  return { Bench: createFileRegistry(file, () => wrappers.proto).getService('bench.Bench'), message: create(BytesValueSchema, { value: MESSAGE }) }
}

async function connectServer () {
  const { Bench, message } = await connected()
  const { connectNodeAdapter } = await import('@connectrpc/connect-node')
  const routes = router => router.service(Bench, {
    echo: request => request,
    async * stream () { for (let at = 0; at < STREAMED; at++) yield message }
  })
  const server = require('node:http2').createServer(connectNodeAdapter({ routes }))
  return new Promise(resolve => { server.listen(0, '127.0.0.1', () => { resolve(server.address().port) }) })
}

async function connectClient (port, channels) {
  const { Bench, message } = await connected()
  const { createClient } = await import('@connectrpc/connect')
  const { createGrpcTransport } = await import('@connectrpc/connect-node')
  const clients = Array.from({ length: channels }, () => createClient(Bench, createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` })))
  return {
    echo: async at => { await clients[at % channels].echo(message) },
    stream: async at => {
      let count = 0
      for await (const _ of clients[at % channels].stream(message)) count++
      if (count !== STREAMED) throw new Error(`${count} messages`)
    }
  }
}

/** Calls of a kind, `atOnce` at a time; microseconds of CPU and of time. */
async function round (client, { kind, count, atOnce }) {
  const [before, began] = [cpu(), performance.now()]
  let next = 0
  await Promise.all(Array.from({ length: atOnce }, async () => { while (next < count) await client[kind](next++) }))
  return { cpu: cpu() - before, time: (performance.now() - began) * 1000 }
}

const isConnect = stack === 'connect-node'
if (role === 'server') {
  const port = await (isConnect ? connectServer() : grpcServer())
  process.on('message', () => { process.send({ cpu: cpu() }) })
  process.send({ port })
} else {
  const clients = new Map()
  process.on('message', async ({ port, channels, ...asked }) => {
    if (!clients.has(channels)) clients.set(channels, await (isConnect ? connectClient : grpcClient)(port, channels))
    try {
      process.send(await round(clients.get(channels), asked))
    } catch (error) {
      process.send({ failed: error.message })
    }
  })
  process.send({})
}
process.on('disconnect', () => { process.exit(0) })

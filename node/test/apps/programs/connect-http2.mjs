// connect-node, client and server, by each of its protocols over HTTP/2: Connect, gRPC and gRPC-Web.
import http2 from 'node:http2'
import { create as message, createFileRegistry } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, file_google_protobuf_wrappers as wrappers, StringValueSchema } from '@bufbuild/protobuf/wkt'
import { Code, ConnectError, createClient } from '@connectrpc/connect'
import { compressionBrotli, compressionGzip, connectNodeAdapter, createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'

const value = '.google.protobuf.StringValue'
const method = (name, clientStreaming, serverStreaming) => ({ name, inputType: value, outputType: value, clientStreaming, serverStreaming })
const file = message(FileDescriptorProtoSchema, {
  name: 'row.proto', package: 'row', syntax: 'proto3', dependency: ['google/protobuf/wrappers.proto'],
  service: [
    { name: 'Row', method: [method('Unary', false, false), method('Fails', false, false), method('Late', false, false), method('Down', false, true), method('Endless', false, true), method('Up', true, false), method('Both', true, true)] },
    { name: 'Missing', method: [method('Unary', false, false)] }
  ]
})
const registry = createFileRegistry(file, () => wrappers.proto)
const [Row, Missing] = ['row.Row', 'row.Missing'].map(name => registry.getService(name))
const text = value => message(StringValueSchema, { value })
const LARGE = 10_000_000
const ended = []

const routes = router => router.service(Row, {
  unary (request, context) {
    context.responseHeader.set('x-back', context.requestHeader.get('x-there') ?? 'none')
    context.responseTrailer.set('x-behind', 'yes')
    return text(request.value)
  },
  fails ({ value }) { throw new ConnectError(`as asked: ä ${value}`, Number(value), { 'x-meta': 'yes', 'x-bytes-bin': 'AAH/' }) },
  late: (_, { signal }) => new Promise((resolve, reject) => { signal.addEventListener('abort', () => { ended.push('late'); reject(signal.reason) }) }),
  async * down (request) { for (let at = 0; at < 50; at++) yield text(`${request.value} ${at}`) },
  async * endless (_, { signal }) { try { while (!signal.aborted) { yield text('again '.repeat(100)); await new Promise(resolve => { setImmediate(resolve) }) } } finally { ended.push('endless') } },
  async up (requests) { let length = 0; for await (const { value } of requests) length += value.length; return text(String(length)) },
  async * both (requests) { for await (const { value } of requests) yield text(`back ${value}`) }
})

export async function start ({ tls }) {
  const answer = connectNodeAdapter({ routes, readMaxBytes: LARGE + 100, acceptCompression: [compressionGzip, compressionBrotli] })
  const servers = { clear: http2.createServer(answer), tls: http2.createSecureServer(tls, answer) }
  const ports = {}
  for (const [name, server] of Object.entries(servers)) {
    await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve) })
    ports[name] = server.address().port
  }
  return { ports, control: { ended: async count => { while (ended.length < count) await new Promise(resolve => { setTimeout(resolve, 10) }); return ended.splice(0).sort() } } }
}

const failure = ({ code, rawMessage, metadata }) => [Code[code], rawMessage, metadata?.get('x-meta'), metadata?.get('x-bytes-bin')]
const stream = async function * (...values) { for (const value of values) yield { value } }
const collected = async (calls, count = Infinity) => {
  const all = []
  for await (const { value } of calls) if (all.push(value.length > 50 ? value.length : value) === count) break
  return all
}

/** Cases of one protocol; `at` makes a client of a service with further options. */
function ofProtocol (at, control) {
  const client = at(Row)
  return {
    unary: async () => {
      const fields = {}
      const answer = await client.unary({ value: 'hello' }, { headers: { 'x-there': 'there' }, onHeader: all => { fields.back = all.get('x-back') }, onTrailer: all => { fields.behind = all.get('x-behind') } })
      return [answer.value, fields]
    },
    'every code': async () => {
      const all = []
      for (let code = 1; code <= 16; code++) all.push(await client.fails({ value: String(code) }).catch(failure))
      return all
    },
    'a stream of answers': () => collected(client.down({ value: 'item' })),
    'a stream of requests': async () => (await client.up(stream(...Array.from({ length: 100 }, () => 'x'.repeat(1000))))).value,
    'both at once': () => collected(client.both(stream('a', 'b', 'c'))),
    'a call that is aborted': async () => {
      const controller = new AbortController()
      const call = client.late({ value: 'x' }, { signal: controller.signal }).catch(({ code }) => Code[code])
      setTimeout(() => { controller.abort() }, 100)
      return [await call, await control('ended', 1)]
    },
    'a deadline that passes': async () => [await client.late({ value: 'x' }, { timeoutMs: 200 }).catch(({ code }) => Code[code]), await control('ended', 1)],
    'a stream that is left': async () => [await collected(client.endless({ value: 'x' }), 3), await control('ended', 1)],
    '10 MB in both directions': async () => (await client.unary({ value: 'l'.repeat(LARGE) })).value.length,
    'a message over the limit of the server': () => client.unary({ value: 'l'.repeat(LARGE + 1000) }).catch(({ code }) => Code[code]),
    'a message over the limit of the client': () => at(Row, { readMaxBytes: 10 }).unary({ value: 'longer than ten' }).catch(({ code }) => Code[code]),
    'gzip in both directions': async () => (await at(Row, { sendCompression: compressionGzip, compressMinBytes: 10 }).unary({ value: 'again '.repeat(1000) })).value.length,
    'brotli in both directions': async () => (await at(Row, { sendCompression: compressionBrotli, compressMinBytes: 10 }).unary({ value: 'again '.repeat(1000) })).value.length,
    '500 at once': async () => (await Promise.all(Array.from({ length: 500 }, (_, at) => client.unary({ value: `n${at}` })))).map(({ value }) => value).join(' '),
    'a service that does not exist': () => at(Missing).unary({ value: 'x' }).catch(({ code }) => Code[code])
  }
}

export function cases ({ ports, control, tls }) {
  const all = {}
  const transports = { Connect: createConnectTransport, gRPC: createGrpcTransport, 'gRPC-Web': createGrpcWebTransport }
  const places = { 'in the clear': { baseUrl: `http://localhost:${ports.clear}` }, 'over TLS': { baseUrl: `https://localhost:${ports.tls}`, nodeOptions: { ca: tls.cert } } }
  for (const [protocol, transport] of Object.entries(transports)) {
    for (const [place, options] of Object.entries(places)) {
      const at = (service, further) => createClient(service, transport({ ...options, httpVersion: '2', ...further }))
      for (const [name, work] of Object.entries(ofProtocol(at, control))) all[`${protocol} ${place}: ${name}`] = work
    }
  }
  return all
}

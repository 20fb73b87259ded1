import { create as message, createFileRegistry } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, file_google_protobuf_wrappers, StringValueSchema } from '@bufbuild/protobuf/wkt'
import { Code, ConnectError, createClient } from '@connectrpc/connect'
import { connectNodeAdapter, createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'

const value = '.google.protobuf.StringValue'
const method = (name, clientStreaming, serverStreaming) => ({ name, inputType: value, outputType: value, clientStreaming, serverStreaming })
const file = message(FileDescriptorProtoSchema, {
  name: 'row.proto', package: 'row', syntax: 'proto3', dependency: ['google/protobuf/wrappers.proto'],
  service: [{ name: 'Row', method: [method('Unary', false, false), method('Fails', false, false), method('Down', false, true), method('Up', true, false), method('Both', true, true)] }]
})
const Row = createFileRegistry(file, () => file_google_protobuf_wrappers.proto).getService('row.Row')
const text = value => message(StringValueSchema, { value })

const routes = router => router.service(Row, {
  unary (request, context) {
    context.responseHeader.set('x-back', context.requestHeader.get('x-there') ?? 'none')
    context.responseTrailer.set('x-behind', 'yes')
    return text(`unary ${request.value}`)
  },
  fails () { throw new ConnectError('not found', Code.NotFound, { 'x-meta': 'yes' }) },
  async * down (request) { for (let at = 0; at < 5; at++) yield text(`${request.value} ${at}`) },
  async up (requests) {
    let length = 0
    for await (const { value } of requests) length += value.length
    return text(String(length))
  },
  async * both (requests) { for await (const { value } of requests) yield text(`back ${value}`) }
})

export function start ({ create }) { return create(connectNodeAdapter({ routes })) }

const streams = async function * (...values) { for (const value of values) yield { value } }

/** By connect's own client, over every protocol that the version carries. */
async function byItsClient ({ port, tls, version }) {
  const options = { baseUrl: `https://localhost:${port}`, httpVersion: version === 'h2' ? '2' : '1.1', nodeOptions: { ca: tls.cert } }
  const transports = { connect: createConnectTransport(options), 'grpc-web': createGrpcWebTransport(options) }
  if (version === 'h2') transports.grpc = createGrpcTransport({ ...options })
  const outcomes = []
  for (const [name, transport] of Object.entries(transports)) {
    const client = createClient(Row, transport)
    const fields = {}
    const answer = await client.unary({ value: 'hello' }, { headers: { 'x-there': 'there' }, onHeader: all => { fields.back = all.get('x-back') }, onTrailer: all => { fields.behind = all.get('x-behind') } })
    const failure = await client.fails({ value: '' }).catch(error => [error.code, error.rawMessage, error.metadata.get('x-meta')])
    const all = []
    for await (const { value } of client.down({ value: 'item' })) all.push(value)
    outcomes.push([name, answer.value, fields, failure, all, (await client.up(streams('one', 'three'))).value])
    if (version !== 'h2') continue
    const both = []
    for await (const { value } of client.both(streams('a', 'b', 'c'))) both.push(value)
    outcomes.push(both)
  }
  return outcomes
}

const enveloped = json => {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(json.length, 1)
  return Buffer.concat([head, Buffer.from(json)])
}

export const requests = [
  { path: '/row.Row/Unary', method: 'POST', headers: { 'content-type': 'application/json', 'x-there': 'there' }, body: '"hello"' },
  { path: '/row.Row/Fails', method: 'POST', headers: { 'content-type': 'application/json' }, body: '"x"' },
  { path: '/row.Row/Unary', method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' },
  { path: '/row.Row/Down', method: 'POST', headers: { 'content-type': 'application/connect+json' }, body: enveloped('"item"') },
  { path: '/row.Row/Up', method: 'POST', headers: { 'content-type': 'application/connect+json' }, body: Buffer.concat([enveloped('"one"'), enveloped('"three"')]) },
  { path: '/row.Row/Unary', method: 'POST', headers: { 'content-type': 'application/grpc+json', te: 'trailers' }, body: enveloped('"hello"') },
  { path: '/row.Row/Fails', method: 'POST', headers: { 'content-type': 'application/grpc+json', te: 'trailers' }, body: enveloped('"x"') },
  { path: '/row.Row/Down', method: 'POST', headers: { 'content-type': 'application/grpc-web+json' }, body: enveloped('"item"') },
  { path: '/row.Row/Missing', method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' },
  { path: '/row.Row/Unary', method: 'GET' },
  { name: 'by its own client', only: ['h1', 'h2'], run: byItsClient }
]

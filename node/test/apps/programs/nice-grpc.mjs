// nice-grpc, client and server.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const { createChannel, createClientFactory, createServer, Metadata, ServerError, Status } = require('nice-grpc')

const write = ({ text }) => Buffer.from(text)
const read = bytes => ({ text: bytes.toString() })
const text = { requestSerialize: write, requestDeserialize: read, responseSerialize: write, responseDeserialize: read }
const method = (name, requestStream, responseStream) => ({ path: `/row.Row/${name}`, requestStream, responseStream, options: {}, ...text })
const definition = { unary: method('Unary', false, false), fails: method('Fails', false, false), late: method('Late', false, false), down: method('Down', false, true), endless: method('Endless', false, true), up: method('Up', true, false), both: method('Both', true, true) }
const ended = []

const methods = {
  async unary (request, context) {
    context.header.set('x-back', context.metadata.get('x-there') ?? 'none')
    context.trailer.set('x-behind', 'yes')
    return request
  },
  async fails ({ text }) { throw new ServerError(Number(text), `as asked: ä ${text}`) },
  late: (_, { signal }) => new Promise((resolve, reject) => { signal.addEventListener('abort', () => { ended.push('late'); reject(new Error('aborted')) }) }),
  async * down (request) { for (let at = 0; at < 50; at++) yield { text: `${request.text} ${at}` } },
  async * endless (_, { signal }) { try { while (!signal.aborted) { yield { text: 'again '.repeat(100) }; await new Promise(resolve => { setImmediate(resolve) }) } } finally { ended.push('endless') } },
  async up (requests) { let length = 0; for await (const { text } of requests) length += text.length; return { text: String(length) } },
  async * both (requests) { for await (const { text } of requests) yield { text: `back ${text}` } }
}

export async function start () {
  const server = createServer()
  server.add(definition, methods)
  const clear = await server.listen('127.0.0.1:0')
  return { ports: { clear }, control: { ended: async count => { while (ended.length < count) await new Promise(resolve => { setTimeout(resolve, 10) }); return ended.splice(0).sort() } } }
}

const failure = ({ code, details, name }) => [name, code, details]
const stream = async function * (...values) { for (const text of values) yield { text } }
const collected = async (calls, count = Infinity) => {
  const all = []
  for await (const { text } of calls) if (all.push(text.length > 50 ? text.length : text) === count) break
  return all
}

export function cases ({ ports, control }) {
  const client = createClientFactory().create(definition, createChannel(`localhost:${ports.clear}`))
  return {
    unary: async () => {
      const fields = {}
      const answer = await client.unary({ text: 'hello' }, { metadata: Metadata({ 'x-there': 'there' }), onHeader: all => { fields.back = all.get('x-back') }, onTrailer: all => { fields.behind = all.get('x-behind') } })
      return [answer.text, fields]
    },
    'every status': async () => {
      const all = []
      for (let code = 1; code <= 16; code++) all.push(await client.fails({ text: String(code) }).catch(failure))
      return all
    },
    'a stream of answers': () => collected(client.down({ text: 'item' })),
    'a stream of requests': () => client.up(stream(...Array.from({ length: 100 }, () => 'x'.repeat(1000)))),
    'both at once': () => collected(client.both(stream('a', 'b', 'c'))),
    'a call that is aborted': async () => {
      const controller = new AbortController()
      const call = client.late({ text: 'x' }, { signal: controller.signal }).catch(({ name }) => name)
      setTimeout(() => { controller.abort() }, 100)
      return [await call, await control('ended', 1)]
    },
    'a stream that is left': async () => [await collected(client.endless({ text: 'x' }), 3), await control('ended', 1)],
    '500 at once': async () => (await Promise.all(Array.from({ length: 500 }, (_, at) => client.unary({ text: `n${at}` })))).map(({ text }) => text).join(' '),
    unimplemented: () => createClientFactory().create({ ...definition, unary: method('None', false, false) }, createChannel(`localhost:${ports.clear}`)).unary({ text: 'x' }).catch(({ code }) => [code, code === Status.UNIMPLEMENTED])
  }
}

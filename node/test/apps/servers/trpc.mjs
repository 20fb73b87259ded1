import { initTRPC, TRPCError } from '@trpc/server'
import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import { createHTTPHandler } from '@trpc/server/adapters/standalone'

const t = initTRPC.create()
const input = value => {
  if (typeof value?.name !== 'string') throw new Error('a name is needed')
  return value
}
const router = t.router({
  hello: t.procedure.input(input).query(({ input }) => ({ hello: input.name })),
  add: t.procedure.input(value => value).mutation(({ input }) => ({ sum: input.a + input.b })),
  breaks: t.procedure.query(() => { throw new TRPCError({ code: 'FORBIDDEN', message: 'broken on purpose' }) }),
  count: t.procedure.query(async function * () { yield 1; yield 2; yield 3 }),
  ticks: t.procedure.subscription(async function * () { yield 'one'; yield 'two' })
})

export function start ({ create }) {
  return create(createHTTPHandler({ router, createContext: () => ({}) }))
}

export function fetch (request) {
  return fetchRequestHandler({ endpoint: '', req: request, router, createContext: () => ({}) })
}

const of = value => encodeURIComponent(JSON.stringify(value))
const json = { 'content-type': 'application/json' }
const stack = [/"stack":"(?:[^"\\]|\\.)*"/g, '"stack":""']

export const masks = [stack]
export const requests = [
  { path: `/hello?input=${of({ name: 'world' })}` },
  { path: `/hello?input=${of({})}` },
  { path: `/hello,breaks?batch=1&input=${of({ 0: { name: 'a' } })}` },
  { path: '/add', method: 'POST', headers: json, body: '{"a":1,"b":2}' },
  { path: '/add?batch=1', method: 'POST', headers: json, body: '{"0":{"a":1,"b":2}}' },
  { path: '/add', method: 'POST', headers: json, body: '{' },
  { path: '/add' },
  { path: '/breaks' },
  { path: `/hello,count?batch=1&input=${of({ 0: { name: 'a' } })}`, headers: { 'trpc-accept': 'application/jsonl' } },
  { path: '/ticks', headers: { accept: 'text/event-stream' } },
  { path: '/nowhere' },
  { path: `/hello?input=${of({ name: 'world' })}`, method: 'HEAD' }
]

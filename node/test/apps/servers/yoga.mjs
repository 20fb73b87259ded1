import { createSchema, createYoga } from 'graphql-yoga'

const yoga = createYoga({
  logging: false,
  schema: createSchema({
    typeDefs: `
      scalar File
      type Query { hello(name: String): String! breaks: String }
      type Mutation { read(file: File!): String! }
      type Subscription { count(to: Int!): Int! }`,
    resolvers: {
      Query: { hello: (parent, { name }) => `hello ${name}`, breaks: () => { throw new Error('broken on purpose') } },
      Mutation: { read: async (parent, { file }) => `${file.name} ${(await file.text()).length}` },
      Subscription: { count: { async * subscribe (parent, { to }) { for (let at = 1; at <= to; at++) yield { count: at } } } }
    }
  })
})

export function start ({ create }) { return create(yoga) }

export function fetch (request) { return yoga.fetch(request) }

const json = { 'content-type': 'application/json' }
const ask = query => ({ path: '/graphql', method: 'POST', headers: json, body: JSON.stringify({ query }) })
const part = (name, body) => `--xx\r\ncontent-disposition: form-data; name=${name}\r\n\r\n${body}\r\n`
const form = [
  part('"operations"', JSON.stringify({ query: 'mutation ($f: File!) { read(file: $f) }', variables: { f: null } })),
  part('"map"', '{"0":["variables.f"]}'), part('"0"; filename="f.txt"', 'f'.repeat(100_000)), '--xx--\r\n'
].join('')

export const requests = [
  ask('{ hello(name: "world") }'), ask('{ breaks }'), ask('{ wrong'), ask('{ nothing }'),
  { path: `/graphql?query=${encodeURIComponent('{ hello(name: "get") }')}` },
  { path: '/graphql', headers: { accept: 'text/html' } },
  { path: '/graphql', method: 'POST', headers: { ...json, accept: 'text/event-stream' }, body: JSON.stringify({ query: 'subscription { count(to: 3) }' }) },
  { path: '/graphql', method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=xx' }, body: form },
  { path: '/graphql', method: 'POST', headers: json, body: '{' },
  { path: '/graphql', method: 'OPTIONS', headers: { origin: 'https://a.test', 'access-control-request-method': 'POST' } },
  { path: '/nowhere' }
]

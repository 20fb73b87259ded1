import { ApolloServer } from '@apollo/server'
import { expressMiddleware } from '@as-integrations/express5'
import express from 'express'

const typeDefs = 'type Query { hello(name: String!): String! fails: String many: [Int!]! } type Mutation { add(a: Int!, b: Int!): Int! }'
const resolvers = {
  Query: { hello: (_, { name }, { agent }) => `hello ${name} of ${agent}`, fails: () => { throw new Error('broken on purpose') }, many: () => Array.from({ length: 5000 }, (_, at) => at) },
  Mutation: { add: (_, { a, b }) => a + b }
}

export async function start ({ create }) {
  const server = new ApolloServer({ typeDefs, resolvers, csrfPrevention: true, includeStacktraceInErrorResponses: false })
  await server.start()
  const app = express()
  app.use('/graphql', express.json(), expressMiddleware(server, { context: async ({ req }) => ({ agent: req.headers['user-agent'] }) }))
  return create(app)
}

const post = (query, variables) => ({ path: '/graphql', method: 'POST', headers: { 'content-type': 'application/json', 'user-agent': 'row' }, body: JSON.stringify({ query, variables }), name: `POST ${query.slice(0, 20)}` })

export const requests = [
  post('query ($n: String!) { hello(name: $n) }', { n: 'you' }), post('{ fails }'), post('{ many }'), post('mutation { add(a: 1, b: 2) }'), post('{ none }'), post('{'),
  { path: `/graphql?query=${encodeURIComponent('{ hello(name: "get") }')}`, headers: { 'user-agent': 'row', 'apollo-require-preflight': 'yes' } },
  { path: `/graphql?query=${encodeURIComponent('{ hello(name: "get") }')}` },
  { path: '/graphql', method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{ many }' }, { path: '/graphql', method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }, { path: '/nowhere' }
]

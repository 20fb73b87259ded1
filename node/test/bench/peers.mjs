// The clients that are measured: each makes, once, a function that asks once and takes the body.
import { readFileSync } from 'node:fs'
import { Writable } from 'node:stream'

const isNew = Number(process.versions.node.split('.')[0]) >= 22
/** undici's line for this Node: 7 on 20, 8 from 22 on. */
const undici = () => import(isNew ? 'undici8' : 'undici7')
const headers = { accept: '*/*', 'user-agent': 'bench', 'accept-language': '*', authorization: 'Bearer token', 'x-request-id': '0123456789' }

/** Our dispatcher. */
async function ours ({ protocol, origin, connections, pipelining, ca }) {
  const { Pool } = await import('trunkline')
  const over = { h1: {}, 'h1 TLS': { allowH2: false }, h2: {}, h3: { http3: 'only' } }[protocol]
  return new Pool(origin, { connections, pipelining, connect: { ca }, ...over })
}

/** undici's. Over HTTP/2 `pipelining` bounds the streams in 7, and says nothing in 8. */
async function theirs ({ protocol, origin, connections, pipelining, concurrency, ca }) {
  const { Pool } = await undici()
  const allowH2 = protocol === 'h2'
  return new Pool(origin, { connections, pipelining: allowH2 ? concurrency : pipelining, connect: { ca }, allowH2 })
}

/** A sink that discards a body, as in undici's own benchmark. */
const sink = () => new Writable({ write (chunk, _, done) { done() } })

const byDispatch = (dispatcher, { origin, path }) => () => new Promise((resolve, reject) => {
  dispatcher.dispatch({ origin, path, method: 'GET', headers }, {
    onRequestStart () {},
    onResponseStart () {},
    onResponseData () {},
    onResponseEnd: resolve,
    onResponseError: (_, error) => { reject(error) }
  })
})
const byRequest = (request, dispatcher, { url }) => async () => { await (await request(url, { dispatcher, headers })).body.text() }
const byStream = (dispatcher, { origin, path }) => () => dispatcher.stream({ origin, path, method: 'GET', headers }, sink)
const byPipeline = (dispatcher, { origin, path }) => () => new Promise((resolve, reject) => {
  dispatcher.pipeline({ origin, path, method: 'GET', headers }, ({ body }) => body)
    .end().on('error', reject).pipe(sink()).on('finish', resolve)
})
const byFetch = (fetch, { url }, extra) => async () => { await (await fetch(url, { headers, ...extra })).text() }

/** The agent of node:http or node:https, which most others take. */
async function nodeAgent ({ protocol, connections, ca }) {
  const http = await import(protocol === 'h1' ? 'node:http' : 'node:https')
  return { http, agent: new http.Agent({ keepAlive: true, maxSockets: connections, ca }) }
}

export const peers = {
  'trunkline dispatch': async to => byDispatch(await ours(to), to),
  'undici dispatch': async to => byDispatch(await theirs(to), to),
  'trunkline request': async to => byRequest((await import('trunkline')).request, await ours(to), to),
  'undici request': async to => byRequest((await undici()).request, await theirs(to), to),
  'undici request on trunkline': async to => byRequest((await undici()).request, await ours(to), to),
  'trunkline stream': async to => byStream(await ours(to), to),
  'undici stream': async to => byStream(await theirs(to), to),
  'trunkline pipeline': async to => byPipeline(await ours(to), to),
  'undici pipeline': async to => byPipeline(await theirs(to), to),
  async 'fetch on trunkline' (to) {
    (await import('trunkline')).installGlobal(await ours(to))
    return byFetch(fetch, to)
  },
  fetch: async to => byFetch(fetch, to),
  'undici fetch': async to => byFetch((await undici()).fetch, to, { dispatcher: await theirs(to) }),
  async 'node:http' (to) {
    const { http, agent } = await nodeAgent(to)
    return () => new Promise((resolve, reject) => {
      http.get(to.url, { agent, headers }, response => { response.on('data', () => {}).on('end', resolve) }).on('error', reject)
    })
  },
  async 'node:http2' ({ origin, path, ca }) {
    const { connect } = await import('node:http2')
    const session = connect(origin, { ca })
    return () => new Promise((resolve, reject) => {
      session.request({ ':path': path, ...headers }).on('data', () => {}).on('end', resolve).on('error', reject).end()
    })
  },
  async got (to) {
    const { default: got } = await import('got')
    const { agent } = await nodeAgent(to)
    const options = to.protocol === 'h2' ? { http2: true } : { agent: { http: agent, https: agent } }
    const client = got.extend({ ...options, headers, retry: { limit: 0 }, https: { certificateAuthority: to.ca } })
    return async () => (await client(to.url)).body
  },
  async axios (to) {
    const { default: axios } = await import('axios')
    const { agent } = await nodeAgent(to)
    const client = axios.create({ httpAgent: agent, httpsAgent: agent, headers, responseType: 'text' })
    return async () => (await client.get(to.url)).data
  },
  async superagent (to) {
    const { default: superagent } = await import('superagent')
    const { agent } = await nodeAgent(to)
    return async () => (await superagent.get(to.url).agent(agent).ca(to.ca).set(headers).buffer(true)).text
  },
  async 'node-fetch' (to) {
    const { default: fetch } = await import('node-fetch')
    const { agent } = await nodeAgent(to)
    return byFetch(fetch, to, { agent })
  }
}

/** A peer's arguments: URL, protocol and counts. */
export function target ({ protocol, url, caFile, concurrency, connections, pipelining }) {
  const { origin, pathname: path } = new URL(url)
  return { protocol, url, origin, path, ca: readFileSync(caFile, 'utf8'), concurrency, connections, pipelining }
}

/** Dispatchers, measured with more requests: they are what the goals are about, and cheap. */
export const isLight = peer => /dispatch|request|stream|node:http/.test(peer)

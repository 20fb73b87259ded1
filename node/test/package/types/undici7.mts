// Dispatchers of this package where undici 7 wants one of its own, and those of undici where this package takes one.
import { Agent, Client, EnvHttpProxyAgent, fetchOver, installGlobal, Pool, ProxyAgent, request } from 'trunkline'
import * as undici from 'undici7'

const url = 'https://localhost/'
const agent = new Agent({ connections: 4 })
export const all: undici.Dispatcher[] = [agent, new Client(url), new Pool(url), new ProxyAgent(url), new EnvHttpProxyAgent()]
export const made: unknown[] = []

for (const dispatcher of [agent, new Client(url), new Pool(url), new ProxyAgent(url)]) {
  undici.setGlobalDispatcher(dispatcher)
  const answer = await undici.request(url, { dispatcher, method: 'POST', body: 'text' })
  made.push(await answer.body.json())
  await undici.stream(url, { dispatcher, method: 'GET', opaque: null }, () => process.stdout)
  undici.pipeline(url, { dispatcher, method: 'GET' }, ({ body }) => body)
  await undici.connect(url, { dispatcher })
  await undici.upgrade(url, { dispatcher })
  await undici.fetch(url, { dispatcher })
  made.push(new undici.WebSocket(url, { dispatcher }), new undici.RetryAgent(dispatcher, { maxRetries: 2 }))
}
made.push(new undici.MockAgent({ agent }), new undici.EventSource(url, { dispatcher: agent }))

const composed = agent.compose(undici.interceptors.retry(), undici.interceptors.redirect({ maxRedirections: 2 }), undici.interceptors.dump())
made.push((await composed.request({ origin: url, path: '/', method: 'GET' })).statusCode)
made.push(new Client(url).compose([undici.interceptors.retry()]))
const theirs = new undici.Agent().compose(undici.interceptors.retry())

for (const dispatcher of [new undici.Agent(), new undici.Client(url), new undici.Pool(url), theirs]) {
  const answer = await request(url, { dispatcher, headers: { accept: '*/*' } })
  made.push(await answer.body.text())
  const uninstall: () => void = installGlobal(dispatcher)
  uninstall()
  const fetch: typeof globalThis.fetch = fetchOver(dispatcher)
  made.push(fetch)
}

// A handler by the types of undici on a dispatcher of ours.
const handler: undici.Dispatcher.DispatchHandler = {}
made.push(agent.dispatch({ origin: url, path: '/', method: 'GET' }, handler))

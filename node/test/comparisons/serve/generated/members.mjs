// Members that programs put on requests and servers, and handlers that are exchanged while a server runs.

/** Members that routers and middleware put on a request. */
const MEMBERS = ['params', 'cookies', 'query', 'route', 'user', 'session', 'ip', 'state', 'locals', 'data', 'context', 'env', 'files', 'content', 'proxy', 'server']
const OWN = { id: '5' }

const put = (place, name) => async (module, stage) => {
  const log = stage.log('server')
  const see = request => {
    stage.attempt(log, name, () => { request[name] = OWN })
    log(request[name], request.method, new URL(request.url).pathname)
    return new module.Response('ok')
  }
  const server = stage.serve(module, place === 'fetch' ? { fetch: see } : { routes: { '/users/:id': see }, fetch: () => new module.Response('none') })
  await stage.ask(server, { target: '/users/1' })
}

/** Options of `reload`, from those that the server has. */
const RELOADS = {
  routes: { routes: { '/a': 'second', '/fails': null } },
  'routes without fetch': { routes: { '/b': 'second' } },
  fetch: { fetch: 'second' },
  error: { error: 'second' },
  'routes and fetch': { routes: { '/a': 'second' }, fetch: 'second' }
}

/** Handlers whose answers name the part and which of them it is. */
function handlersOf (module, { routes, fetch, error }) {
  const answering = (part, which) => () => new module.Response(`${part}, ${which}`)
  const failing = () => { throw new Error('own') }
  const made = {}
  if (routes !== undefined) made.routes = Object.fromEntries(Object.entries(routes).map(([path, which]) => [path, which === null ? failing : answering(path, which)]))
  if (fetch !== undefined) made.fetch = answering('fetch', fetch)
  if (error !== undefined) made.error = answering('error', error)
  return made
}

const reload = given => async (module, stage) => {
  const server = stage.serve(module, handlersOf(module, { routes: { '/a': 'first', '/fails': null }, fetch: 'first', error: 'first' }))
  for (const target of ['/a', '/none', '/fails']) await stage.ask(server, { target })
  stage.attempt(stage.log('server'), 'reload', () => { server.reload(handlersOf(module, given)) })
  for (const target of ['/a', '/b', '/none', '/fails']) await stage.ask(server, { target })
}

export default Object.fromEntries([
  ...['fetch', 'a route'].flatMap(place => MEMBERS.map(name => [`${name} of a request of ${place}`, put(place, name)])),
  ...Object.entries(RELOADS).map(([label, given]) => [`reload, ${label}`, reload(given)])
])

// The route that answers, by path and method, and the handler that answers a failure.
import { fileURLToPath } from 'node:url'

const PATTERNS = {
  exact: ['/a'], root: ['/'], parameter: ['/users/:id'], two: ['/users/:id/posts/:post'], rest: ['/api/*'], all: ['/*'],
  'exact beside a parameter': ['/users/me', '/users/:id'], 'a parameter beside the rest': ['/api/:one', '/api/*'],
  'exact beside the rest': ['/api/one', '/api/*'], 'a slash at the end': ['/a/'], 'escaped': ['/gr%C3%BCn'], 'not escaped': ['/grün']
}
const PATHS = ['/', '/a', '/a/', '/A', '/a?x=1', '/users/me', '/users/7', '/users/', '/users', '/users/a%20b', '/users/a%2Fb', '/users/%zz', '/users/7/posts/8', '/api/', '/api', '/api/one', '/api/one/two', '/gr%C3%BCn', '/gr%c3%bcn', '//a', '/./a', '/users/7/']

const programs = {}
for (const [name, patterns] of Object.entries(PATTERNS)) {
  for (const target of PATHS) {
    programs[`${name}, ${target}`] = async (module, stage) => {
      const routes = Object.fromEntries(patterns.map(pattern => [pattern, request => new module.Response(`${pattern} ${JSON.stringify(request.params ?? null)}`)]))
      const server = stage.serve(module, { routes, fetch: () => new module.Response('fetch') })
      await stage.ask(server, { target })
    }
  }
}

const FOLDER = fileURLToPath(new URL('../../../support', import.meta.url))
for (const target of ['/files/lines/lines.mjs', '/files/none', '/files/lines/', '/files/lines', '/files/', '/files', '/files/lines%2Flines.mjs', '/files/../none', '/files//lines/lines.mjs', '/files/own', '/files/lines/lines.mjs/']) {
  for (const method of ['GET', 'HEAD']) {
    programs[`a folder, ${method} ${target}`] = async (module, stage) => {
      const server = stage.serve(module, { routes: { '/files/*': { dir: FOLDER }, '/files/own': () => new module.Response('own') }, fetch: () => new module.Response('fetch') })
      await stage.ask(server, { method, target })
    }
  }
}

const FILE = fileURLToPath(new URL('../../../package.json', import.meta.url))
const VALUES = {
  'a Response': ({ Response }) => new Response('fixed', { headers: { 'x-a': 'b' } }),
  'an empty Response': ({ Response }) => new Response(),
  'a redirect': ({ Response }) => Response.redirect('/there'),
  'a Response of a status': ({ Response }) => new Response('gone', { status: 410 }),
  'a Response of json': ({ Response }) => Response.json({ a: 1 }),
  'a handler': ({ Response }) => () => new Response('handler'),
  'a handler of GET': ({ Response }) => ({ GET: () => new Response('get') }),
  'a Response of GET': ({ Response }) => ({ GET: new Response('get') }),
  'handlers of GET and POST': ({ Response }) => ({ GET: () => new Response('get'), POST: async request => new Response(`post ${await request.text()}`) }),
  'a handler of HEAD': ({ Response }) => ({ HEAD: () => new Response('head', { headers: { 'x-head': '1' } }), GET: () => new Response('get') }),
  'a handler of OPTIONS': ({ Response }) => ({ OPTIONS: () => new Response(null, { status: 204, headers: { allow: 'GET' } }) }),
  'a file': ({ file }) => file(FILE),
  'a file of GET': ({ file }) => ({ GET: file(FILE) }),
  false: () => false
}
for (const [name, value] of Object.entries(VALUES)) {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', 'DELETE']) {
    for (const others of ['fetch', 'none']) {
      programs[`${name}, ${method}, ${others === 'fetch' ? 'with' : 'without'} fetch`] = async (module, stage) => {
        const fetch = others === 'fetch' ? { fetch: () => new module.Response('fetch') } : {}
        const server = stage.serve(module, { routes: { '/a': value(module), '/other': new module.Response('other') }, ...fetch })
        await stage.ask(server, { method, target: '/a', body: method === 'POST' || method === 'PUT' ? 'body' : '' })
      }
    }
  }
}

const FAILURES = {
  throws: () => { throw new Error('fails') },
  rejects: async () => { throw new Error('fails') },
  'throws no error': () => { throw 'text' }, // eslint-disable-line no-throw-literal
  'throws nothing': () => { throw undefined } // eslint-disable-line no-throw-literal
}
const HOOKS = {
  none: undefined,
  'a Response': (module, log) => error => {
    log('error', error instanceof Error ? error.message : String(error))
    return new module.Response('from error', { status: 502 })
  },
  'a promise': (module, log) => async error => {
    log('error', error instanceof Error ? error.message : String(error))
    return new module.Response('from error', { status: 503 })
  },
  'throws too': () => () => { throw new Error('fails too') },
  'gives nothing': () => () => undefined
}
for (const [how, fails] of Object.entries(FAILURES)) {
  for (const [answer, hook] of Object.entries(HOOKS)) {
    for (const where of ['fetch', 'route']) {
      programs[`${where} ${how}, error: ${answer}`] = async (module, stage) => {
        const error = hook?.(module, stage.log('server'))
        const own = where === 'fetch' ? { fetch: fails } : { routes: { '/': fails } }
        const server = stage.serve(module, { fetch: () => new module.Response('fetch'), ...own, ...(error === undefined ? {} : { error }) })
        await stage.ask(server)
      }
    }
  }
}
export default programs

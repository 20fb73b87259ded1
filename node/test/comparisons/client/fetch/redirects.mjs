// Redirects of `fetch`: status, mode, method, body and target.
import { bytesOf } from '../stage.mjs'
import { BODIES } from '../bodies.mjs'

const STATUSES = [300, 301, 302, 303, 304, 307, 308]
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']
const KINDS = ['nothing', 'a text', 'a FormData', 'a ReadableStream']
/** The location, by the two origins. */
const TARGETS = {
  'a path': () => '/there',
  'a relative path': () => 'there?b',
  'the same origin': one => `${one.url}/there`,
  'another origin': (one, other) => `${other.url}/there`,
  'a fragment': () => '/there#own',
  'user and password': (one, other) => other.url.replace('//', '//user:pass@'),
  'no URL': () => 'http://[',
  'another scheme': () => 'ftp://localhost/',
  'a data URL': () => 'data:text/plain,there',
  'none': () => undefined,
  'itself': () => '/'
}

async function run (module, stage, { status, target, init }) {
  const arrived = stage.log('server')
  const log = stage.log('fetch')
  let other = null
  // A request that is cut ends the reading of its body.
  const answer = (request, response) => { respond(request, response).catch(() => {}) }
  const respond = async (request, response) => {
    const { authorization, cookie, host, 'content-type': type } = request.headers
    const boundary = /boundary=(.*)/.exec(type ?? '')?.[1]
    const body = (await bytesOf(request)).toString('latin1')
    arrived(request.method, request.url, authorization, cookie, host.endsWith(served.port) ? 'here' : 'there', type?.replace(boundary, 'B'), boundary === undefined ? body : body.length > 0)
    const location = target(served, other)
    if (request.url === '/' && host.endsWith(served.port)) {
      response.writeHead(status, location === undefined ? {} : { location })
      return response.end('elsewhere')
    }
    response.end('there')
  }
  const served = await stage.serve(answer)
  other = await stage.serve(answer)
  const dispatcher = stage.own(new module.Agent())
  const shown = url => url.replaceAll(String(served.port), 'HERE').replaceAll(String(other.port), 'THERE')
  try {
    const response = await module.fetch(`${served.url}/#given`, { ...init(module), dispatcher })
    log(response.status, response.type, response.redirected, shown(response.url), response.headers.get('location') === null ? 'no location' : 'a location')
    log('body', await response.text())
  } catch (error) { log('failed', error.name, shown(error.message), shown(String(error.cause?.message))) }
}

const HEADERS = { authorization: 'Basic abc', cookie: 'a=b' }
const programs = {}
for (const status of STATUSES) {
  for (const [label, target] of Object.entries(TARGETS)) {
    for (const redirect of ['follow', 'manual', 'error']) {
      programs[`${status} to ${label}, ${redirect}`] = (module, stage) => run(module, stage, { status, target, init: () => ({ redirect, headers: HEADERS }) })
    }
  }
  for (const method of METHODS) {
    for (const kind of KINDS) {
      if ((method === 'GET' || method === 'HEAD') && kind !== 'nothing') continue
      for (const label of ['a path', 'another origin']) {
        programs[`${status} to ${label}, ${method} with ${kind}`] = (module, stage) => run(module, stage, { status, target: TARGETS[label], init: module => ({ method, body: BODIES[kind](module), duplex: 'half', headers: HEADERS }) })
      }
    }
  }
}
export default programs

// Requests of `fetch`: each kind of body by each method and each way to give it; the server logs what came.
import { bytesOf } from '../stage.mjs'
import { BODIES } from '../bodies.mjs'

/** Fields that `fetch` decides about. */
const OF_FETCH = ['accept', 'accept-language', 'content-type', 'content-length', 'transfer-encoding', 'sec-fetch-mode', 'x-own']
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'patch', 'PATCH', 'DELETE', 'options', 'FOO', 'CONNECT', 'TRACE', 'a b', '']
const WAYS = {
  'in the call': (module, url, init) => module.fetch(url, init),
  'as a URL': (module, url, init) => module.fetch(new URL(url), init),
  'in a Request': (module, url, { dispatcher, ...init }) => module.fetch(new module.Request(url, init), { dispatcher }),
  'in a clone': (module, url, { dispatcher, ...init }) => module.fetch(new module.Request(url, init).clone(), { dispatcher }),
  'in a Request of a Request': (module, url, { dispatcher, ...init }) => module.fetch(new module.Request(new module.Request(url, init)), { dispatcher }),
  'over a Request': (module, url, init) => module.fetch(new module.Request(url, { method: 'POST', body: 'of the request', headers: { 'x-own': 'a' } }), init)
}

async function run (module, stage, isH2, way, init) {
  const arrived = stage.log('server')
  const log = stage.log('fetch')
  // A request that is cut ends the reading of its body.
  const answer = (request, response) => { respond(request, response).catch(() => {}) }
  const respond = async (request, response) => {
    const fields = OF_FETCH.filter(name => request.headers[name] !== undefined)
    const type = request.headers['content-type']
    const body = (await bytesOf(request)).toString('latin1')
    const boundary = /boundary=(.*)/.exec(type ?? '')?.[1]
    const shown = text => boundary === undefined ? text : text.replaceAll(boundary, 'BOUNDARY')
    arrived(request.method, fields.map(name => `${name}: ${shown(name === 'content-length' && boundary !== undefined ? 'some' : request.headers[name])}`).join('; '), shown(body))
    response.end('answered')
  }
  const served = await (isH2 ? stage.serveH2(answer) : stage.serve(answer))
  const dispatcher = stage.own(new module.Agent({ connect: { rejectUnauthorized: false }, allowH2: isH2 }))
  try {
    const response = await way(module, `${served.url}/path?a=b#part`, { ...init(module), dispatcher })
    log(response.status, response.type, new URL(response.url).href.replace(/\d{4,}/, 'PORT'), await response.text())
  } catch (error) { log('failed', error.name, error.message, error.cause?.code) }
}

const programs = {}
for (const [kind, body] of Object.entries(BODIES)) {
  for (const isH2 of [false, true]) {
    const version = isH2 ? 'h2' : 'h1'
    for (const method of METHODS) {
      programs[`${version}, ${kind}, ${method}`] = (module, stage) => run(module, stage, isH2, WAYS['in the call'], module => ({ method, body: body(module), duplex: 'half' }))
    }
    for (const [label, way] of Object.entries(WAYS)) {
      programs[`${version}, ${kind}, ${label}`] = (module, stage) => run(module, stage, isH2, way, module => ({ method: 'POST', body: body(module), duplex: 'half', headers: { 'x-own': 'b' } }))
    }
    // A type of the program's own hides the boundary of a form.
    for (const type of kind.endsWith('FormData') ? [] : ['text/own', '']) {
      programs[`${version}, ${kind}, content-type '${type}'`] = (module, stage) => run(module, stage, isH2, WAYS['in the call'], module => ({ method: 'POST', body: body(module), duplex: 'half', headers: { 'content-type': type } }))
    }
    programs[`${version}, ${kind}, without duplex`] = (module, stage) => run(module, stage, isH2, WAYS['in the call'], module => ({ method: 'POST', body: body(module) }))
  }
}
export default programs

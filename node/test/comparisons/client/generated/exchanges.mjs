// Every call of undici's API x version of HTTP x dispatcher x outcome: what its caller sees, what the server got, and
// whether the dispatcher goes on.
import { FACES } from '../faces.mjs'
import { ANSWERS, BREAKS, NEXT, RESETS, VERSIONS, optionsOf, originOf } from '../origins.mjs'

const MAKE = {
  Client: (module, origin, options) => new module.Client(origin, options),
  Pool: (module, origin, options) => new module.Pool(origin, options),
  Agent: (module, origin, options) => new module.Agent(options)
}
const REQUESTS = {
  GET: () => ({ method: 'GET' }),
  'POST of a text': () => ({ method: 'POST', body: 'some text' }),
  'PUT of bytes': () => ({ method: 'PUT', body: Buffer.from('some bytes') }),
  'POST of an iterable': () => ({ method: 'POST', body: (async function * () { yield 'some '; yield 'pieces' })() }),
  HEAD: () => ({ method: 'HEAD' }),
  DELETE: () => ({ method: 'DELETE' })
}
/** Acts of a program while its request is under way: when the server has it, or when the head has come. */
const ACTS = {
  'aborts without a reason': ({ controller }) => { controller.abort() },
  'aborts with a reason': ({ controller }) => { controller.abort(new Error('enough')) },
  'closes the dispatcher': under => { under.done = under.dispatcher.close().then(() => { under.log('closed') }) },
  'destroys the dispatcher': under => { under.done = under.dispatcher.destroy().then(() => { under.log('destroyed') }) },
  'destroys the dispatcher with an error': under => { under.done = under.dispatcher.destroy(new Error('over')).then(() => { under.log('destroyed') }) }
}
const ON_HEAD = { ...ACTS, 'destroys the body': ({ body }) => { body.destroy() } }
const TIMEOUTS = { headersTimeout: 'no head', bodyTimeout: 'half a body' }
/** Long enough for a connection on a busy machine, and within what undici's clock tells apart. */
const TIMEOUT_MS = 1500

async function run (module, stage, { version, kind, face, request, answer, act, when, options = {}, isTimed = false, isAgain = false }) {
  // The sides in one order, whichever of them logs first.
  for (const side of ['client', 'server', 'dispatcher', 'again']) stage.log(side)
  const log = stage.log('client')
  const controller = new AbortController()
  const under = { controller, log: stage.log('dispatcher') }
  const { origin, path } = await originOf(version, ({ method }, body) => {
    // Whether a request that may take too long has arrived by then is chance.
    if (!isTimed) stage.log('server')(method, body.length)
    if (when === 'request') act(under)
  }, module)
  const dispatcher = stage.own(MAKE[kind](module, origin, optionsOf(module, version)))
  under.dispatcher = dispatcher
  if (when === 'before') act(under)
  const all = { origin, path: path(answer), ...REQUESTS[request](), ...options }
  if (when !== undefined) all.signal = controller.signal
  await FACES[face](dispatcher, all, log, (_, body) => {
    under.body = body
    if (when === 'head') act(under)
  })
  await under.done
  if (isAgain) await FACES.request(dispatcher, { origin, path: path('a text'), method: 'GET' }, stage.log('again'), () => {})
  log(dispatcher.closed, dispatcher.destroyed)
}

const programs = {}
const add = (name, cell) => { programs[name] = (module, stage) => run(module, stage, cell) }
/** The requests, outcomes and acts of one cell: a call, a version and a dispatcher. */
function cells (face, version, kind, requests) {
  const base = { face, version, kind }
  const isH2 = version.startsWith('h2')
  const name = `${face}, ${version}, ${kind}`
  for (const request of requests) {
    const label = `${name}, ${request}`
    for (const answer of Object.keys(ANSWERS)) add(`${label}: ${answer}`, { ...base, request, answer, isAgain: true })
    // A request that may be sent twice is, and a break of each of its tries ends as one of the last does. Connections of QUIC
    // end in other ways.
    if (version !== NEXT) for (const answer of Object.keys(BREAKS)) add(`${label}: ${answer}`, { ...base, request, answer, isAgain: true })
    if (isH2) for (const answer of Object.keys(RESETS)) add(`${label}: ${answer}`, { ...base, request, answer, isAgain: kind !== 'Client' })
    for (const [act, does] of Object.entries(ACTS)) {
      add(`${label}: ${act} before`, { ...base, request, answer: 'a text', act: does, when: 'before' })
      // A closing peer lets the exchange end, which it never does here.
      if (act === 'closes the dispatcher') continue
      add(`${label}: ${act} when the server has it`, { ...base, request, answer: 'no head', act: does, when: 'request' })
    }
    for (const [act, does] of Object.entries(ON_HEAD)) if (act !== 'closes the dispatcher') add(`${label}: ${act} behind the head`, { ...base, request, answer: 'half a body', act: does, when: 'head' })
  }
  // fetch has no such options of its own.
  if (face === 'fetch') return
  for (const [option, answer] of Object.entries(TIMEOUTS)) add(`${name}: ${option}`, { ...base, request: 'GET', answer, options: { [option]: TIMEOUT_MS }, isTimed: true })
}

for (const face of Object.keys(FACES)) {
  for (const version of Object.keys(VERSIONS)) {
    cells(face, version, 'Client', face === 'pipeline' ? ['GET', 'POST of a text'] : ['GET', 'POST of a text', 'POST of an iterable'])
    for (const kind of ['Pool', 'Agent']) cells(face, version, kind, ['GET'])
    for (const request of ['PUT of bytes', 'HEAD', 'DELETE']) {
      for (const answer of ['a text', 'a text with its length', '204', '404']) {
        add(`${face}, ${version}, Client, ${request}: ${answer}`, { face, version, kind: 'Client', request, answer, isAgain: true })
      }
    }
  }
}

// HTTP/3: what each call sees of each answer, and of what its own program does.
for (const face of Object.keys(FACES)) cells(face, NEXT, 'Client', face === 'pipeline' ? ['POST of a text'] : ['GET', 'POST of a text', 'POST of an iterable'])
for (const kind of ['Pool', 'Agent']) cells('request', NEXT, kind, ['GET'])

export default programs

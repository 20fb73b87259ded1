// The words of errors of the classes of fetch: each constructor and method with arguments that it refuses.

/** By the members of an init of a Request; each with values. */
const MEMBERS = {
  method: ['A B', '', 'TRACE', 'connect', Symbol('x'), '\u2603'], mode: ['navigate'], cache: ['only-if-cached'], window: [5, {}], signal: [5, {}, 'x'], referrer: ['http://[', '/relative'],
  headers: [5, null, 'x', [['a']], [['a', 'b', 'c']], ['ab'], [5], { 'a b': 'c' }, { '': 'c' }, { a: 'b\nc' }, { a: 'b\0' }, { a: '\u2603' }, { '\u2603': 'a' }, { [Symbol('x')]: 'y' }, { a: Symbol('x') }],
  body: ['x', new ReadableStream()], integrity: [Symbol('x')]
}
const STATUS = [199, 600, 101, 204, 205, 304, 'x', null, NaN, 200.9]

/** Calls by name, each with the receiver of a method; `wrong` is no instance. */
const METHODS = {
  Headers: { make: ({ Headers }) => new Headers({ a: 'b' }), calls: { append: [[], ['a'], ['a b', 'c'], ['a', 'b\nc'], ['\u2603', 'a'], ['a', '\u2603'], [Symbol('x'), 'a'], ['a', Symbol('x')], ['', '']], set: [[], ['a'], ['a b', 'c'], ['a', 'b\rc'], ['a', Symbol('x')]], get: [[], ['a b'], [''], ['\u2603'], [Symbol('x')]], has: [[], ['a b'], [Symbol('x')]], delete: [[], ['a b'], ['\u2603']], forEach: [[], [5], [null]], keys: [], values: [], entries: [], getSetCookie: [] } },
  FormData: { make: ({ FormData }) => new FormData(), calls: { append: [[], ['a'], ['a', 'b', 'c'], ['a', {}, 'c'], ['a', 5, 'c']], set: [[], ['a'], ['a', 'b', 'c']], get: [[]], getAll: [[]], has: [[]], delete: [[]], forEach: [[], [5]], keys: [], values: [], entries: [] } },
  Response: { make: ({ Response }) => new Response('x'), calls: { clone: [], text: [], json: [], formData: [], arrayBuffer: [], blob: [] } },
  Request: { make: ({ Request }) => new Request('http://localhost', { method: 'POST', body: 'x' }), calls: { clone: [], text: [], json: [], arrayBuffer: [], blob: [] } }
}

/** An array's text would be that of its elements, which a symbol does not have. */
const labelOf = value => typeof value === 'symbol' ? 'a symbol' : value instanceof ReadableStream ? 'a stream' : typeof value === 'object' && value !== null ? JSON.stringify(value, (_, one) => typeof one === 'symbol' ? 'a symbol' : one) + (Object.getOwnPropertySymbols(value).length > 0 ? ' by symbol' : '') : JSON.stringify(value) ?? 'undefined'

async function attempt (stage, call) {
  const log = stage.log('call')
  try {
    const value = await call()
    log('->', typeof value)
  } catch (error) { log(error.name, error.code, error.message, error.cause?.code) }
}

const programs = {}
for (const [member, values] of Object.entries(MEMBERS)) {
  for (const value of values) {
    programs[`Request, ${member}: ${labelOf(value)}`] = (module, stage) => attempt(stage, () => new module.Request('http://localhost', { [member]: value }))
  }
}
for (const input of [undefined, null, 5, '', '/a', 'http://', 'http://a:b@localhost', Symbol('x')]) programs[`Request of ${labelOf(input)}`] = (module, stage) => attempt(stage, () => new module.Request(input))
programs['Request of nothing'] = (module, stage) => attempt(stage, () => new module.Request())
for (const status of STATUS) for (const body of [null, 'x']) programs[`Response of ${body}, status ${status}`] = (module, stage) => attempt(stage, () => new module.Response(body, { status }))
for (const statusText of ['a\nb', '\u2603', Symbol('x'), 5]) programs[`Response, statusText ${labelOf(statusText)}`] = (module, stage) => attempt(stage, () => new module.Response('', { statusText }))
for (const init of MEMBERS.headers) programs[`Headers of ${labelOf(init)}`] = (module, stage) => attempt(stage, () => new module.Headers(init))
for (const form of [null, {}, 5]) programs[`FormData of ${labelOf(form)}`] = (module, stage) => attempt(stage, () => new module.FormData(form))
for (const status of [200, 304, 'x']) programs[`Response.redirect, ${status}`] = (module, stage) => attempt(stage, () => module.Response.redirect('http://localhost', status))
programs['Response.redirect of nothing'] = (module, stage) => attempt(stage, () => module.Response.redirect())
for (const value of [undefined, Symbol('x'), () => {}]) programs[`Response.json of ${typeof value}`] = (module, stage) => attempt(stage, () => module.Response.json(value))
programs['Response.json of nothing'] = (module, stage) => attempt(stage, () => module.Response.json())
programs['Response.json with 204'] = (module, stage) => attempt(stage, () => module.Response.json({}, { status: 204 }))
for (const [name, { make, calls }] of Object.entries(METHODS)) {
  for (const [method, all] of Object.entries(calls)) {
    for (const args of all) programs[`${name}.${method} with ${args.map(labelOf).join(' and ') || 'nothing'}`] = (module, stage) => attempt(stage, () => make(module)[method](...args))
    for (const receiver of [{}, null, undefined, 5]) programs[`${name}.${method} of ${labelOf(receiver)}`] = (module, stage) => attempt(stage, () => module[name].prototype[method].call(receiver, 'a', 'b'))
  }
}
for (const name of ['Request', 'Response']) {
  const make = module => name === 'Request' ? new module.Request('http://localhost', { method: 'POST', body: 'x' }) : new module.Response('x')
  for (const first of ['text', 'clone', 'a reader']) {
    for (const second of ['text', 'json', 'clone', 'another of it']) {
      programs[`${name}: ${first}, then ${second}`] = (module, stage) => attempt(stage, async () => {
        const one = make(module)
        if (first === 'a reader') one.body.getReader(); else await one[first]()
        if (second === 'another of it') return name === 'Request' ? new module.Request(one) : new module.Response(one.body)
        return await one[second]()
      })
    }
  }
}
for (const port of [0, 1, 22, 6000, 6667, 10080]) programs[`fetch of port ${port}`] = (module, stage) => attempt(stage, () => module.fetch(`http://127.0.0.1:${port}/`))
for (const reference of ['', 'origin']) {
  for (const init of [undefined, {}, { headers: { a: 'b' } }, { mode: 'no-cors' }, { referrerPolicy: 'unsafe-url' }]) {
    programs[`Request of a Request, referrerPolicy '${reference}', with ${JSON.stringify(init)}`] = (module, stage) => {
      const { referrer, referrerPolicy, mode, redirect } = new module.Request(new module.Request('http://localhost', { referrerPolicy: reference, redirect: 'error' }), init)
      stage.log('request')(referrer, referrerPolicy, mode, redirect)
    }
  }
}
export default programs

// Bad input, given to undici's dispatchers and to ours: the same class, code and moment, and nothing
// is sent. What differs by intention stands in a table of its own, with the reason.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import { inspect } from 'node:util'
import * as ours from 'trunkline'

const [major] = process.versions.node.split('.').map(Number)
const lines = { undici7: await import('undici7') }
// undici 8 needs a newer Node than 20.
if (major >= 22) lines.undici8 = await import('undici8')

/** How a call ends: thrown, told to the handler before it returned, later, or not refused. */
function reported (error, when) {
  return { when, name: error.name, code: error.code, isError: error instanceof Error }
}

function construct (kind, lib, options, url = 'http://a.test') {
  try {
    const made = kind === 'Agent' || kind === 'ProxyAgent' ? new lib[kind](options) : new lib[kind](url, options)
    made.destroy().catch(() => {})
    return { when: 'taken' }
  } catch (error) {
    return reported(error, 'thrown')
  }
}

function dispatch (dispatcher, options, isOld) {
  let outcome = { when: 'taken' }
  const isOver = () => false
  const onError = error => { outcome = reported(error, 'at once') }
  const handler = isOld
    ? { onConnect (abort) { abort() }, onHeaders: isOver, onData: isOver, onComplete () {}, onUpgrade () {}, onError: error => { if (error.code !== 'UND_ERR_ABORTED') onError(error) } }
    : {
        onRequestStart (controller) { controller.abort(new Error('enough')) },
        onResponseStart () {},
        onResponseData () {},
        onResponseEnd () {},
        onRequestUpgrade () {},
        onResponseError (_, error) { if (error.message !== 'enough') onError(error) }
      }
  try {
    dispatcher.dispatch(options, handler)
  } catch (error) {
    outcome = reported(error, 'thrown')
  }
  return outcome
}

const differing = (given, theirs, own) => {
  const displayed = ({ when, name, code }) => [when, name, code].join(' ')
  return `${inspect(given, { breakLength: Infinity })}: undici ${displayed(theirs)}, ours ${displayed(own)}`
}

const nothing = () => {}
/** By kind of dispatcher: options, each wrong in one thing or right at an edge. */
const options = {
  keepAlive: [true, false], socketTimeout: [1], requestTimeout: [1], idleTimeout: [1], maxKeepAliveTimeout: [1],
  maxHeaderSize: [0, -1, 1.5, '1', NaN, 1, null],
  socketPath: [1, {}, null],
  connectTimeout: [-1, '1', NaN, Infinity, 0, null],
  keepAliveTimeout: [0, -1, '1', NaN, Infinity, 1, null],
  keepAliveMaxTimeout: [0, -1, '1', NaN, Infinity, 1, null],
  keepAliveTimeoutThreshold: ['1', NaN, Infinity, -1, 0, null],
  headersTimeout: [-1, 1.5, '1', NaN, Infinity, 0, null],
  bodyTimeout: [-1, 1.5, '1', NaN, Infinity, 0, null],
  connect: [1, 'a', true, null, {}],
  maxRequestsPerClient: [-1, 1.5, '1', NaN, 0, 1, null],
  localAddress: [1, 'nowhere', '1.2.3', '', null, '127.0.0.1'],
  maxResponseSize: [-2, 1.5, '1', NaN, -1, 0, null],
  autoSelectFamilyAttemptTimeout: [1.5, '1', NaN, -2, null],
  allowH2: [1, 'a', null, true, false],
  useH2c: [1, 'a', null, false],
  maxConcurrentStreams: [0, -1, '1', null, 1],
  initialWindowSize: [0, -1, 1.5, '1', null, 65_535],
  connectionWindowSize: [0, -1, 1.5, '1', null, 65_535],
  pingInterval: [-1, 1.5, '1', null, 0],
  h2Options: [{ maxConcurrentStreams: 0 }, { connectionWindowSize: 0 }, { pingInterval: -1 }, { useH2c: 1 }, { settings: { initialWindowSize: 0 } }, {}, null]
}
const poolOptions = { connections: [-1, '1', NaN, Infinity, 0, null, 1] }
const agentOptions = { maxOrigins: [0, -1, '1', NaN, null, 1, Infinity] }
const urls = ['', 'a', 'ftp://a', 'http://a/b', 'http://a?b', 'http://a#b', null, undefined, 1, {}, 'http://', 'http://a:99999', 'HTTP://A', new URL('http://a'), new URL('ftp://a')]

/** Options that only undici 8 checks. */
const checkedLate = ['useH2c', 'h2Options']

/** Requests that ours refuses otherwise, and why. */
const intended = [
  ['an array of arrays is called by name, not TypeError', ({ headers }) => Array.isArray(headers?.[0])],
  ['a function is no value, and a symbol is called by name', ({ headers }) => ['function', 'symbol'].includes(typeof headers?.a)],
  ['a length that is wrong is told before the request waits, with the error that undici has later',
    ({ method, body, headers }) => method === 'POST' && ((body === 'abc' && headers['content-length'] === '2') || headers?.['content-length'] === 1)],
  ['a query that comes twice is a wrong argument, not a plain Error', ({ path, query }) => query !== undefined && path.length > 1]
]
const isIntended = request => typeof request === 'object' && request !== null && intended.some(([, applies]) => applies(request))

for (const [line, lib] of Object.entries(lines)) {
  test(`options are refused as by ${line}`, () => {
    const cases = { Client: options, Pool: { ...poolOptions }, Agent: agentOptions }
    const wrong = []
    for (const [kind, table] of Object.entries(cases)) {
      for (const [option, values] of Object.entries(table)) {
        if (line === 'undici7' && checkedLate.includes(option)) continue
        for (const value of values) {
          const [theirs, own] = [lib, ours].map(one => construct(kind, one, { [option]: value }))
          if (theirs.when !== own.when || theirs.code !== own.code || theirs.name !== own.name) {
            wrong.push(differing([kind, option, value], theirs, own))
          }
        }
      }
    }
    assert.deepEqual(wrong, [])
  })

  test(`URLs are refused as by ${line}`, () => {
    const wrong = []
    for (const url of urls) {
      const [theirs, own] = [lib, ours].map(one => construct('Client', one, {}, url))
      if (theirs.when !== own.when || theirs.code !== own.code) wrong.push(differing(String(url), theirs, own))
    }
    assert.deepEqual(wrong, [])
  })

  test(`requests are refused as by ${line}, in the same moment, and nothing is sent`, async () => {
    const server = net.createServer(socket => { socket.on('error', nothing) }).listen(0, '127.0.0.1').unref()
    await once(server, 'listening')
    let sockets = 0
    server.on('connection', () => { sockets++ })
    const origin = `http://127.0.0.1:${server.address().port}`
    const good = { path: '/', method: 'GET' }
    const requests = [
      null, undefined, 1, 'a', {},
      ...['', 'a', null, 1, undefined, '/ ', '/\n', '/\u0100', '*', 'ftp://a/', 'http://b.test/c', '/a#b'].map(path => ({ ...good, path })),
      ...['', 'G T', 'GET\r\n', null, 1, undefined, 'get', 'Ü', 'M-SEARCH'].map(method => ({ ...good, method })),
      ...[true, 1, 'a\nb', 'websocket', '', false, null].map(upgrade => ({ ...good, upgrade })),
      ...[-1, NaN, Infinity, '1', 1.5, 0, null].flatMap(time => [{ ...good, headersTimeout: time }, { ...good, bodyTimeout: time }]),
      ...[1, 'a', true, null].flatMap(flag => [{ ...good, reset: flag }, { ...good, expectContinue: flag }]),
      ...[1, 'a', true].map(throwOnError => ({ ...good, throwOnError })),
      ...[1, 0, undefined, null].map(maxRedirections => ({ ...good, maxRedirections })),
      ...[1, true, Symbol('a'), nothing, {}, new Date(0)].map(body => ({ ...good, method: 'POST', body })),
      ...[1, true, 'a', ['a'], ['a', 'b', 'c'], [['a', 'b'], ['c']], new Map([['a', 'b']]), null, [], new Set(['a'])].map(headers => ({ ...good, headers })),
      ...['', 'a b', 'a:', 'a\n', 'Ü', '\0'].map(name => ({ ...good, headers: { [name]: 'b' } })),
      ...['a\nb', 'a\rb', 'a\0b', '\u0100', 'ü', {}, [{}], nothing, Symbol('b'), true, 1, 1n, null, undefined, ['b', 'c'], [], [null], [undefined], [1], '\x7f', '\t'].map(value => ({ ...good, headers: { a: value } })),
      ...['transfer-encoding', 'keep-alive', 'upgrade', 'expect', 'Transfer-Encoding'].map(name => ({ ...good, headers: { [name]: 'b' } })),
      ...['close', 'keep-alive', 'upgrade', 'a b', '', ['close'], 1].map(connection => ({ ...good, headers: { connection } })),
      ...['a', '1.5', '-1', '1 1', '', '0', 1, ['1'], '0x1'].map(length => ({ ...good, method: 'POST', headers: { 'content-length': length } })),
      { ...good, method: 'POST', headers: ['content-length', '0', 'content-length', '0'] },
      { ...good, method: 'POST', body: 'abc', headers: { 'content-length': '2' } },
      { ...good, headers: { host: ['a', 'b'] } }, { ...good, headers: ['host', 'a', 'host', 'b'] }, { ...good, headers: { host: 'a\nb' } },
      { ...good, path: '/?a', query: { a: 1 } }, { ...good, path: '/#a', query: { a: 1 } }, { ...good, query: { a: [1, null] } }
    ]
    const wrong = []
    for (const kind of ['Client', 'Pool', 'Agent']) {
      const [theirs, own] = [lib, ours].map(one => kind === 'Agent' ? new one.Agent() : new one[kind](origin))
      for (const request of requests) {
        const asked = kind === 'Agent' && request !== null && typeof request === 'object' ? { ...request, origin } : request
        const [first, second] = [theirs, own].map(one => dispatch(one, asked, line === 'undici7'))
        const same = ['when', 'name', 'code'].every(what => first[what] === second[what])
        if (!same && !isIntended(request)) wrong.push(differing([kind, request], first, second))
      }
      if (kind === 'Agent') {
        for (const from of ['', 1, null, {}, undefined, 'a', 'ftp://a', 'http://', 'http://a/b']) {
          const [first, second] = [theirs, own].map(one => dispatch(one, { ...good, origin: from }, line === 'undici7'))
          if (first.when !== second.when || first.code !== second.code) wrong.push(differing(['origin', from], first, second))
        }
      }
      await theirs.destroy()
      await own.destroy()
    }
    assert.deepEqual(wrong, [])
    server.close()
  })
}

// undici 7 wraps handlers of the new kind in one of the old, and so checks less.
test('handlers that cannot hear are refused as by undici 8', { skip: !lines.undici8 }, () => {
  const methods = ['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseEnd', 'onResponseError']
  const whole = () => Object.fromEntries(methods.map(name => [name, nothing]))
  const handlers = [null, undefined, 1, 'a', nothing, {}, ...methods.flatMap(name => [{ ...whole(), [name]: 1 }, { ...whole(), [name]: undefined }]),
    { ...whole(), onBodySent: 1 }, { ...whole(), onRequestSent: 1 }]
  for (const handler of handlers) {
    const [theirs, own] = [lines.undici8, ours].map(one => {
      const client = new one.Client('http://127.0.0.1:1')
      try {
        client.dispatch({ path: '/', method: 'GET' }, handler)
        return { when: 'taken' }
      } catch (error) {
        return reported(error, 'thrown')
      } finally {
        client.destroy().catch(nothing)
      }
    })
    assert.deepEqual(own, theirs, inspect(handler))
  }
})

for (const [line, theirs] of Object.entries(lines)) {
  test(`a path beside a URL that has one, a query or a fragment is refused as by ${line}`, () => {
    const urls = ['http://a.test/b', 'http://a.test/?b', 'http://a.test/#b', new URL('http://a.test/b'), { origin: 'http://a.test', path: '/b' }]
    const calls = { request: [], stream: [nothing], pipeline: [nothing], connect: [], upgrade: [] }
    for (const url of urls) {
      for (const [name, behind] of Object.entries(calls)) {
        const [expected, own] = [theirs, ours].map(one => {
          try {
            one[name](url, { path: '/c' }, ...behind)
            return { when: 'taken' }
          } catch (error) {
            return reported(error, 'thrown')
          }
        })
        assert.deepEqual(own, expected, `${name} ${inspect(url)}`)
      }
    }
  })
}

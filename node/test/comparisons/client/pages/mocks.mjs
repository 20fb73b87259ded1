// MockAgent, MockPool, MockClient, MockCallHistory, SnapshotAgent and the errors of mocks.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { get, hello, known, onVersions, programs, textOf, VERSIONS } from '../page.mjs'

const ORIGIN = 'http://mocked.test'
/** A mock over a dispatcher of the module, without the network. */
function mocked (p, options) {
  const mock = p.own(new p.module.MockAgent({ agent: p.agent(), ...options }))
  mock.disableNetConnect()
  return { mock, pool: mock.get(ORIGIN), ask: (path = '/', more = {}) => mock.request({ origin: ORIGIN, path, method: 'GET', ...more }) }
}
const seen = async answer => [answer.statusCode, JSON.stringify(answer.headers), await answer.body.text(), JSON.stringify(answer.trailers)]

export default {
  ...programs({
    'replies of each kind': async p => {
      const { pool, ask } = mocked(p)
      const replies = { text: [200, 'text'], bytes: [200, Buffer.from('bytes')], object: [201, { a: 1 }], nothing: [204], 'a function': [200, ({ path, method }) => `${method} ${path}`], 'a promise': [200, async () => 'later'], fields: [200, 'x', { headers: { 'X-A': 'b', 'set-cookie': ['a', 'b'] }, trailers: { 'x-sum': '1' } }] }
      for (const [label, reply] of Object.entries(replies)) {
        pool.intercept({ path: '/', method: 'GET' }).reply(...reply)
        await p.settle(label, ask().then(seen), value => value)
      }
      pool.intercept({ path: '/', method: 'GET' }).reply(options => ({ statusCode: 202, data: JSON.stringify(Object.keys(options).sort()), responseOptions: { headers: { 'x-b': 'c' } } }))
      await p.settle('whole', ask().then(seen), value => value)
    },
    'replyWithError': async p => {
      const { pool, ask } = mocked(p)
      pool.intercept({ path: '/', method: 'GET' }).replyWithError(new Error('mocked'))
      await p.settle('error', ask())
    },
    'matchers': async p => {
      const { pool, ask } = mocked(p)
      pool.intercept({ path: /^\/re/, method: 'GET' }).reply(200, 'by expression').persist()
      pool.intercept({ path: path => path.endsWith('fn'), method: 'GET' }).reply(200, 'by function').persist()
      pool.intercept({ path: '/q', query: { a: '1', b: ['x', 'y'] }, method: 'GET' }).reply(200, 'by query').persist()
      pool.intercept({ path: '/h', headers: { 'x-a': /b/ }, method: 'GET' }).reply(200, 'by field').persist()
      pool.intercept({ path: '/b', body: 'body', method: 'POST' }).reply(200, 'by body').persist()
      pool.intercept({ path: '/m', method: method => method !== 'GET' }).reply(200, 'by method').persist()
      for (const [path, more] of [['/re/1'], ['/a/fn'], ['/q?a=1&b=x&b=y'], ['/q', { query: { b: ['x', 'y'], a: '1' } }], ['/q?a=2'], ['/h', { headers: { 'X-A': 'abc' } }], ['/h'], ['/b', { method: 'POST', body: 'body' }], ['/b', { method: 'POST', body: 'other' }], ['/m', { method: 'PUT' }], ['/none']]) await p.settle(`${path} ${JSON.stringify(more)}`, ask(path, more).then(textOf))
    },
    'times, persist and delay': async p => {
      const { mock, pool, ask } = mocked(p)
      pool.intercept({ path: '/t', method: 'GET' }).reply(200, 't').times(2)
      pool.intercept({ path: '/d', method: 'GET' }).reply(200, 'd').delay(20)
      p.log(mock.pendingInterceptors().map(({ path, times, persist, pending, consumed, timesInvoked }) => [path, times, persist, pending, consumed, timesInvoked]))
      for (let at = 0; at < 3; at++) await p.settle(at, ask('/t').then(textOf))
      p.attempt('pending', () => mock.assertNoPendingInterceptors())
      await p.settle('delayed', ask('/d').then(textOf))
      p.attempt('none', () => mock.assertNoPendingInterceptors())
    },
    'defaults of a pool': async p => {
      const { pool, ask } = mocked(p)
      pool.intercept({ path: '/', method: 'GET' }).defaultReplyHeaders({ 'x-d': '1' }).defaultReplyTrailers({ 'x-t': '2' }).replyContentLength().reply(200, 'text')
      await p.settle('reply', ask().then(seen), value => value)
    },
    'calls that are refused': async p => {
      const { pool, mock } = mocked(p)
      for (const [label, call] of Object.entries({ 'intercept nothing': () => pool.intercept(), 'intercept text': () => pool.intercept('x'), 'no path': () => pool.intercept({ method: 'GET' }), 'reply nothing': () => pool.intercept({ path: '/' }).reply(), 'reply options': () => pool.intercept({ path: '/' }).reply(200, 'x', 5), 'error nothing': () => pool.intercept({ path: '/' }).replyWithError(), 'times 0': () => pool.intercept({ path: '/' }).reply(200).times(0), 'delay x': () => pool.intercept({ path: '/' }).reply(200).delay('x'), 'headers': () => pool.intercept({ path: '/' }).defaultReplyHeaders(), 'net connect': () => mock.enableNetConnect({}), agent: () => new p.module.MockAgent({ agent: {} }), 'no agent': () => new p.module.MockAgent({ agent: null }) })) p.attempt(label, call)
    },
    'nothing matches: the error': async (p, { mockErrors }) => {
      const { pool, ask } = mocked(p)
      await ask('/none').catch(error => { p.log(known(error), error instanceof mockErrors.MockNotMatchedError) })
      pool.intercept({ path: '/a', method: 'GET' }).reply(200)
      for (const [path, more] of [['/b'], ['/a', { method: 'POST' }]]) await p.settle(path, ask(path, more))
    },
    'call history': async p => {
      const { mock, pool, ask } = mocked(p, { enableCallHistory: true })
      pool.intercept({ path: /.*/, method: /.*/ }).reply(200, 'x').persist()
      await ask('/a?b=c', { headers: { 'x-a': 'b' } }).then(textOf)
      await ask('/d', { method: 'POST', body: 'body' }).then(textOf)
      const history = mock.getCallHistory()
      p.log(history.calls().length, history.firstCall()?.path, history.lastCall()?.body, history.nthCall(2)?.method)
      p.log(JSON.stringify(history.firstCall()?.toMap() instanceof Map), history.firstCall()?.toString())
      p.log(history.filterCalls({ path: '/a' }).length, history.filterCallsByMethod('POST').length, history.filterCalls(call => call.path === '/d').length, history.filterCalls(/POST/).length, history.filterCallsByOrigin(ORIGIN).length)
      for (const call of history) p.log(JSON.stringify(call))
      mock.clearCallHistory()
      p.log(mock.getCallHistory().calls().length)
    },
    'deactivate and activate': async p => {
      const server = await p.serve(hello)
      const mock = p.own(new p.module.MockAgent({ agent: p.agent() }))
      mock.get(server.url).intercept({ path: '/', method: 'GET' }).reply(200, 'mocked').persist()
      p.log(mock.isMockActive, await mock.request({ ...get, origin: server.url }).then(textOf))
      mock.deactivate()
      p.log(mock.isMockActive, await mock.request({ ...get, origin: server.url }).then(textOf))
      mock.activate()
      p.log(mock.isMockActive, await mock.request({ ...get, origin: server.url }).then(textOf))
    },
    'through fetch, request, stream and pipeline': async (p, { fetch, request, stream, pipeline }) => {
      const { mock, pool } = mocked(p)
      pool.intercept({ path: '/', method: /.*/ }).reply(200, 'mocked', { headers: { 'x-a': 'b' } }).persist()
      const { Writable } = await import('node:stream')
      p.log(await fetch(`${ORIGIN}/`, { dispatcher: mock }).then(async response => [response.status, response.headers.get('x-a'), await response.text()]))
      p.log(await request(`${ORIGIN}/`, { dispatcher: mock }).then(textOf))
      const pieces = []
      await stream(`${ORIGIN}/`, { dispatcher: mock, method: 'GET' }, () => new Writable({ write (piece, _, done) { pieces.push(String(piece)); done() } }))
      p.log(pieces)
      const duplex = pipeline(`${ORIGIN}/`, { dispatcher: mock, method: 'POST' }, ({ body }) => body)
      duplex.end('x')
      for await (const piece of duplex) p.log(String(piece))
    },
    'as the global dispatcher': async (p, { setGlobalDispatcher, getGlobalDispatcher, request, fetch }) => {
      const { mock, pool } = mocked(p)
      const before = getGlobalDispatcher()
      setGlobalDispatcher(mock)
      try {
        pool.intercept({ path: '/', method: 'GET' }).reply(200, 'mocked').persist()
        p.log(await request(`${ORIGIN}/`).then(textOf), await fetch(`${ORIGIN}/`).then(response => response.text()))
        await p.settle('fetch of another', fetch(`${ORIGIN}/other`))
      } finally {
        setGlobalDispatcher(before)
      }
    },
    'MockClient and MockPool: made by hand': async (p, { MockClient, MockPool, MockAgent }) => {
      const agent = p.own(new MockAgent({ connections: 1 }))
      const client = p.own(new MockClient(ORIGIN, { agent }))
      client.intercept({ path: '/', method: 'GET' }).reply(200, 'of a client')
      p.log(await client.request(get).then(textOf))
      const pool = p.own(new MockPool(ORIGIN, { agent: p.own(new MockAgent()) }))
      pool.intercept({ path: '/', method: 'GET' }).reply(200, 'of a pool')
      p.log(await pool.request(get).then(textOf))
      p.attempt('no agent', () => new MockClient(ORIGIN))
    },
    'a body that is aborted': async p => {
      const { pool, ask } = mocked(p)
      pool.intercept({ path: '/', method: 'GET' }).reply(200, 'x').delay(100)
      const controller = new AbortController()
      const call = p.settle('call', ask('/', { signal: controller.signal }).then(textOf))
      setTimeout(() => { controller.abort() }, 10)
      await call
    },
    'the mocks of a dispatcher that closes': async p => {
      const { mock, pool, ask } = mocked(p)
      pool.intercept({ path: '/', method: 'GET' }).reply(200, 'x').persist()
      await mock.close()
      await p.settle('request', ask())
    }
  }),
  ...onVersions(VERSIONS, {
    'net connect by host': async (p, { MockAgent }) => {
      const server = await p.serve(hello)
      const mock = p.own(new MockAgent({ agent: p.agent() }))
      mock.disableNetConnect()
      await p.settle('disabled', mock.request({ ...get, origin: server.url }).then(textOf))
      mock.enableNetConnect(/localhost/)
      await p.settle('by expression', mock.request({ ...get, origin: server.url }).then(textOf))
      mock.disableNetConnect()
      mock.enableNetConnect(host => host === new URL(server.url).host)
      await p.settle('by function', mock.request({ ...get, origin: server.url }).then(textOf))
    },
    'SnapshotAgent: records, and plays back': async (p, { SnapshotAgent }) => {
      const folder = mkdtempSync(`${tmpdir()}/pages-`)
      try {
        let asked = 0
        const server = await p.serve((request, response) => { asked++; request.resume().on('end', () => { response.writeHead(200, { 'x-a': 'b' }).end(`${request.method} ${asked}`) }) })
        const path = `${folder}/snapshots.json`
        const agent = new SnapshotAgent({ mode: 'record', snapshotPath: path, agent: p.agent(), ...p.options() })
        p.log(await agent.request({ ...get, origin: server.url }).then(textOf), await agent.request({ path: '/', method: 'POST', body: 'x', origin: server.url }).then(textOf))
        p.log(agent.getRecorder().size(), agent.getMode())
        await agent.saveSnapshots()
        await agent.close()
        const [first] = JSON.parse(readFileSync(path, 'utf8'))
        p.log(Object.keys(first).sort().join(), Object.keys(first.snapshot).sort().join(), first.snapshot.request.method)
        const back = new SnapshotAgent({ mode: 'playback', snapshotPath: path })
        for (let at = 0; at < 2; at++) p.log(await back.request({ ...get, origin: server.url }).then(async answer => [answer.statusCode, answer.headers['x-a'], await answer.body.text()]))
        await back.request({ path: '/other', method: 'GET', origin: server.url }).catch(error => { p.log(error.name, error.code, error.message.slice(0, 17)) })
        await back.close()
        p.log(asked)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
    'SnapshotAgent: updates, and forgets': async (p, { SnapshotAgent }) => {
      const folder = mkdtempSync(`${tmpdir()}/pages-`)
      try {
        const server = await p.serve((request, response) => { response.end(request.url) })
        const agent = new SnapshotAgent({ mode: 'update', snapshotPath: `${folder}/s.json`, agent: p.agent(), ...p.options(), excludeUrls: ['/secret'], ignoreHeaders: ['x-id'], matchQuery: false })
        for (const path of ['/a', '/a?b', '/secret']) p.log(await agent.request({ path, method: 'GET', origin: server.url, headers: { 'x-id': path } }).then(textOf))
        const info = agent.getSnapshotInfo({ method: 'GET', origin: server.url, path: '/a' })
        p.log(info?.responseCount, info?.callCount, agent.deleteSnapshot({ method: 'GET', origin: server.url, path: '/a' }), agent.getRecorder().size())
        agent.clearSnapshots()
        agent.resetCallCounts()
        await agent.close()
        p.attempt('a mode that is none', () => new SnapshotAgent({ mode: 'x' }))
        p.attempt('no path', () => new SnapshotAgent({ mode: 'playback' }))
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
  })
}

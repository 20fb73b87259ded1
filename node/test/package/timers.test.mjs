// Programs whose timers are not those of Node.js: tests with a clock of their own, a window of jsdom.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import test from 'node:test'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Agent, createServer, fetch, http2, request, Response, serve } from 'trunkline'

const run = promisify(execFile)
const NAMES = ['clearImmediate', 'clearInterval', 'clearTimeout', 'queueMicrotask', 'setImmediate', 'setInterval', 'setTimeout']

/** Puts functions that do nothing in the place of the global timers until the test is over. */
function stopTimers (t) {
  const own = NAMES.map(name => [name, globalThis[name]])
  for (const name of NAMES) globalThis[name] = () => 0
  t.after(() => { Object.assign(globalThis, Object.fromEntries(own)) })
}

/** Answers with the body of the request, in two pieces. */
const echo = (incoming, outgoing) => {
  text(incoming).then(body => {
    outgoing.write('<')
    outgoing.end(`${body}>`)
  })
}

async function listening (t, server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  return server.address().port
}

async function closed (server) {
  const over = once(server, 'close')
  server.close()
  await over
}

test('a server of the form of node:http serves and closes where the global timers stand still', { timeout: 60_000 }, async t => {
  const server = createServer({ requests: 'http' }, echo)
  const port = await listening(t, server)
  stopTimers(t)
  const asked = http.request({ port, method: 'POST', agent: false })
  asked.end('body')
  const [answer] = await once(asked, 'response')
  assert.equal(await text(answer), '<body>')
  await closed(server)
})

test('a server and a session of HTTP/2 serve, ask and close where the global timers stand still', { timeout: 60_000 }, async t => {
  const server = createServer(echo)
  const port = await listening(t, server)
  stopTimers(t)
  const session = http2.connect(`http://127.0.0.1:${port}`)
  const stream = session.request({ ':method': 'POST' })
  stream.end('body')
  assert.equal(await text(stream), '<body>')
  const over = once(session, 'close')
  session.close()
  await over
  await closed(server)
})

test('a dispatcher asks and closes where the global timers stand still', { timeout: 60_000 }, async t => {
  const server = http.createServer(echo)
  const port = await listening(t, server)
  const dispatcher = new Agent()
  t.after(() => dispatcher.destroy())
  stopTimers(t)
  const options = { method: 'POST', body: 'body', dispatcher }
  assert.equal(await (await request(`http://127.0.0.1:${port}`, options)).body.text(), '<body>')
  assert.equal(await (await fetch(`http://127.0.0.1:${port}`, options)).text(), '<body>')
  await assert.rejects(request('http://127.0.0.1:1', { dispatcher }), { code: 'ECONNREFUSED' })
  await dispatcher.close()
})

test('serve answers and stops where the global timers stand still', { timeout: 60_000 }, async t => {
  const server = serve({ port: 0, hostname: '127.0.0.1', fetch: async asked => new Response(`<${await asked.text()}>`) })
  t.after(() => server.stop(true))
  stopTimers(t)
  const dispatcher = new Agent()
  t.after(() => dispatcher.destroy())
  const answer = await request(server.url.href, { method: 'POST', body: 'body', dispatcher })
  assert.equal(await answer.body.text(), '<body>')
  await dispatcher.close()
  await server.stop()
})

/** A clock that stands still, in the way of node:test, and in that of sinon, Jest and Vitest. */
const CLOCKS = {
  'node:test': "const { mock } = await import('node:test'); mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate'] }); const back = () => mock.timers.reset()",
  sinon: `
    const owners = { setImmediate: globalThis, setTimeout: globalThis, queueMicrotask: globalThis, nextTick: process }
    const real = Object.entries(owners).map(([name, owner]) => [owner, name, owner[name]])
    for (const [owner, name] of real) owner[name] = Object.assign(() => 0, { clock: {} })
    const back = () => { for (const [owner, name, call] of real) owner[name] = call }`
}

for (const [name, clock] of Object.entries(CLOCKS)) {
  test(`a package that was loaded while a clock of ${name} stood still works when that is taken back`, { timeout: 60_000 }, async () => {
    const program = `
      ${clock}
      const { Agent, createServer, request } = await import('trunkline')
      back()
      const server = createServer((asked, answer) => { answer.end('served') })
      await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve) })
      const dispatcher = new Agent()
      const { body } = await request('http://127.0.0.1:' + server.address().port, { dispatcher })
      console.log(await body.text())
      await dispatcher.close()
      await new Promise(resolve => { server.close(resolve) })
      console.log('closed')`
    const { stdout } = await run(process.execPath, ['--no-warnings', '--input-type=module', '-e', program], { cwd: fileURLToPath(new URL('..', import.meta.url)), timeout: 30_000 })
    assert.equal(stdout, 'served\nclosed\n')
  })
}

test('no part of the package asks for a timer by its global name', () => {
  const dist = fileURLToPath(new URL('../../dist', import.meta.url))
  const bare = new RegExp(`(?<![.\\w$'])(?:process\\.nextTick|(?:globalThis\\.)?(?:${NAMES.join('|')}))\\(`)
  const files = readdirSync(dist, { recursive: true }).filter(file => file.endsWith('.js'))
  const found = files.flatMap(file => readFileSync(join(dist, file), 'utf8').split('\n').filter(line => bare.test(line)).map(line => `${file}: ${line.trim()}`))
  // Methods of that name are defined, not called.
  assert.deepEqual(found.filter(line => !/: (?:\$?\w+ )?setTimeout\(\w+, \w+\) \{$/.test(line)), [])
})

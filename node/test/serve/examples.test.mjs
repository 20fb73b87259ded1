// The program of the guide's part on routes, folders and WebSockets, run as it stands there.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { WebSocket } from 'ws'

test("the guide's program of routes, folders and WebSockets does what it says", async t => {
  const page = readFileSync(new URL('../../../docs/guide/node-serve.md', import.meta.url), 'utf8')
  const [, part] = page.split('## Routes, folders and WebSockets')
  const [, code] = part.match(/```js server untyped\n([^]*?)```/)
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-readme-'))
  t.after(() => { rmSync(folder, { recursive: true }) })
  mkdirSync(join(folder, 'public'))
  writeFileSync(join(folder, 'public', 'a.css'), 'a {}')
  writeFileSync(join(folder, 'logo.svg'), '<svg/>')
  const own = code.replace('port: 3000', "port: 0, hostname: '127.0.0.1'").replace("'trunkline'", JSON.stringify(import.meta.resolve('trunkline')))
    .replace("'logo.svg'", JSON.stringify(join(folder, 'logo.svg'))).replace("'public'", JSON.stringify(join(folder, 'public')))
  const { server } = await import(`data:text/javascript,${encodeURIComponent(`${own}\nexport { server }`)}`)
  t.after(() => server.stop(true))
  const reported = async (path, options) => {
    const answer = await fetch(new URL(path, server.url), options)
    return [answer.status, await answer.text(), answer.headers.get('content-type')]
  }
  assert.deepEqual(await reported('/status'), [200, 'fine', 'text/plain;charset=UTF-8'])
  assert.deepEqual(await reported('/logo'), [200, '<svg/>', 'image/svg+xml'])
  assert.deepEqual(await reported('/users/5'), [200, '{"id":"5"}', 'application/json'])
  assert.equal((await reported('/items/6'))[1], 'item 6')
  assert.deepEqual((await reported('/items/6', { method: 'PUT', body: '{"a":1}' })).slice(0, 2), [201, '{"a":1}'])
  assert.deepEqual((await reported('/items/6', { method: 'DELETE' })).slice(0, 2), [404, 'nothing here'])
  assert.equal((await reported('/api/x'))[1], 'no such call')
  assert.deepEqual(await reported('/assets/a.css'), [200, 'a {}', 'text/css;charset=utf-8'])
  const clients = []
  for (const _ of [1, 2]) {
    const client = new WebSocket(`ws://127.0.0.1:${server.port}/`)
    await once(client, 'open')
    clients.push(client)
  }
  const received = once(clients[1], 'message')
  clients[0].send('hi')
  assert.equal(String((await received)[0]), 'hi')
  const left = once(clients[1], 'message')
  clients[0].close()
  assert.match(String((await left)[0]), /^left after \d+ ms$/)
})

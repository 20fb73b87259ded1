// An attacker who controls a value of a request can neither predict the boundary of a form nor
// begin another field.
import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { readdirSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { Agent, Client } from 'trunkline'
import { viaNew } from '../../support/clients/dispatch.mjs'
import { versions } from '../../support/servers/versions.mjs'

/** Answers with the fields that came, and says what body. */
const show = async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  response.end(JSON.stringify({ headers: request.headers, body: Buffer.concat(chunks).toString('latin1') }))
}

/**
 * Objects that a program may pass for a Blob: undici and we take objects of other packages by their
 * tag.
 */
const blob = (type, text = 'x') => ({
  type,
  size: text.length,
  name: 'file',
  [Symbol.toStringTag]: 'Blob',
  arrayBuffer: async () => new TextEncoder().encode(text).buffer,
  stream: () => new Blob([text]).stream()
})
const form = type => ({
  [Symbol.toStringTag]: 'FormData',
  append: () => {},
  entries: () => [['field', blob(type)]][Symbol.iterator]()
})

/** Texts that divide a head or a part in two where they are written as they are. */
const hostile = ['text/plain\0x-injected\0yes', 'text/plain\u0100x-injected\u0100yes', 'text/plain\r\nx-injected: yes', 'a\nb', 'a\u20acb', 7]

for (const { name, serve, options } of versions) {
  // CVE-2025-22150 (undici) and CVE-2025-7783 (form-data): boundaries by Math.random, whose next output follows
  // from those that a server has seen.
  test(`the boundary of a form does not come from Math.random (CVE-2025-22150, CVE-2025-7783), over ${name}`, async t => {
    const server = await serve(show)
    t.after(() => server.close())
    const agent = new Agent(options)
    t.after(() => agent.destroy())
    t.mock.method(Math, 'random', () => 0.5)
    const boundaries = new Set()
    for (let round = 0; round < 5; round++) {
      const body = new FormData()
      body.append('a', 'b')
      const answer = await viaNew(agent, { origin: server.url, path: '/', method: 'POST', body })
      const seen = JSON.parse(String(answer.body))
      const [, boundary] = /^multipart\/form-data; boundary=(.*)$/.exec(seen.headers['content-type'])
      assert.match(boundary, /^----trunkline-[0-9a-f]{18}$/)
      assert.ok(seen.body.startsWith(`--${boundary}\r\n`) && seen.body.endsWith(`\r\n--${boundary}--\r\n`))
      boundaries.add(boundary)
    }
    assert.equal(boundaries.size, 5)
  })

  test(`the type of a body that is no field value is refused before anything is sent, over ${name}`, async t => {
    const server = await serve(show)
    t.after(() => server.close())
    const agent = new Agent(options)
    t.after(() => agent.destroy())
    const ask = body => viaNew(agent, { origin: server.url, path: '/', method: 'POST', body })
    for (const type of hostile) {
      for (const make of [blob, form]) await assert.rejects(ask(make(type)), { code: 'UND_ERR_INVALID_ARG', message: /type of a Blob/ })
    }
    assert.equal(server.counts.requests, 0)
    const good = JSON.parse(String((await ask(blob('text/plain; charset=utf-8'))).body))
    assert.deepEqual([good.headers['content-type'], good.body], ['text/plain; charset=utf-8', 'x'])
  })
}

test('a head with one zero too many, or with a character above U+00FF, is not sent, whoever made it', async t => {
  const server = await versions[0].serve(show)
  t.after(() => server.close())
  const client = new Client(server.url)
  t.after(() => client.destroy())
  const created = channel('undici:request:create')
  for (const part of ['a\0x-injected\0yes', 'a\u0100b']) {
    // A subscriber sees the request as an object that it can write to.
    for (const write of [request => { request.headers.push('x-added', part) }, request => { request.path += part }, request => { request.headers.push(part) }]) {
      const received = ({ request }) => { write(request) }
      created.subscribe(received)
      await assert.rejects(viaNew(client, { path: '/', method: 'GET' }), { code: 'UND_ERR_INVALID_ARG' })
      created.unsubscribe(received)
    }
  }
  assert.equal(server.counts.requests, 0)
})

test('nothing in the sources comes from Math.random', () => {
  const folder = new URL('../../../src/', import.meta.url)
  const users = readdirSync(folder, { recursive: true }).map(String)
    .filter(file => file.endsWith('.ts') && /Math\s*(\.|\[\s*['"`])\s*random/.test(readFileSync(new URL(file, folder), 'utf8').replaceAll(/^ *(\/\/|\*|\/\*\*).*$/gm, '')))
  assert.deepEqual(users, [])
})

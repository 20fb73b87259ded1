// Files that the system has in memory are answered within the turn of their request, and as those that are waited for.
import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { file, request, Response, serve } from 'trunkline'
import { load } from '../../dist/channel/addon.js'

const folder = fs.mkdtempSync(join(tmpdir(), 'trunkline-cached-'))
after(() => { fs.rmSync(folder, { recursive: true }) })
const small = join(folder, 'small.txt')
fs.writeFileSync(small, 'abcdefghijklmnopqrstuvwxyz')
fs.writeFileSync(join(folder, 'empty.txt'), '')
fs.writeFileSync(join(folder, 'exact.bin'), Buffer.alloc(64 * 1024, 'e'))
fs.writeFileSync(join(folder, 'large.bin'), Buffer.alloc(64 * 1024 + 1, 'l'))
fs.utimesSync(small, 1_700_000_000, 1_700_000_000.9996)

/** By name: the response of a handler, the request. */
const CASES = {
  'a whole file': [() => new Response(file(small)), {}],
  'a HEAD request': [() => new Response(file(small)), { method: 'HEAD' }],
  'a POST request': [() => new Response(file(small)), { method: 'POST', body: 'b' }],
  'an empty file': [() => new Response(file(join(folder, 'empty.txt'))), {}],
  'a file of the size that is read at once': [() => new Response(file(join(folder, 'exact.bin'))), {}],
  'a file that is one byte larger': [() => new Response(file(join(folder, 'large.bin'))), {}],
  'a range': [() => new Response(file(small)), { headers: { range: 'bytes=3-7' } }],
  'the end of it': [() => new Response(file(small)), { headers: { range: 'bytes=-4' } }],
  'a range that cannot be had': [() => new Response(file(small)), { headers: { range: 'bytes=100-' } }],
  'a range of another version': [() => new Response(file(small)), { headers: { range: 'bytes=3-7', 'if-range': '"other"' } }],
  'a version that the client has': [() => new Response(file(small)), { headers: { 'if-modified-since': 'Wed, 01 Jan 2025 00:00:00 GMT' } }],
  'a version that is not the expected one': [() => new Response(file(small)), { headers: { 'if-match': '"other"' } }],
  'a part': [() => new Response(file(small, { offset: 5, length: 6 })), {}],
  'a part beyond the end': [() => new Response(file(small, { offset: 20, length: 60 })), {}],
  'another status': [() => new Response(file(small), { status: 404, headers: { 'x-a': 'b' } }), {}],
  'validators of its own': [() => new Response(file(small), { headers: { etag: '"own"' } }), { headers: { 'if-none-match': '"own"' } }]
}

/** The addon's function, and a way to take it away. */
const addon = load()
const { fileCached } = addon

for (const [name, [fetch, options]] of Object.entries(CASES)) {
  test(`${name} is answered alike whether the file is waited for or not`, async t => {
    const server = serve({ port: 0, hostname: '127.0.0.1', fetch })
    t.after(() => server.stop(true))
    t.after(() => { addon.fileCached = fileCached })
    const answers = []
    for (const own of [fileCached, () => -1]) {
      addon.fileCached = own
      const { statusCode, headers, body } = await request(server.url, options)
      const { date: _, ...others } = headers
      answers.push({ statusCode, headers: Object.entries(others).sort(), body: Buffer.from(await body.arrayBuffer()).toString() })
    }
    assert.deepEqual(answers[0], answers[1])
  })
}

test('a folder, a pipe that nothing writes and a name that is not there are left to the way that waits', () => {
  const [room, facts] = [Buffer.alloc(100), new Uint8Array(8)]
  for (const name of [folder, join(folder, 'none'), '/dev/null', '']) assert.equal(fileCached(name, room, facts), -1, name)
  assert.ok([26, -1].includes(fileCached(small, room, facts)))
  assert.equal(fileCached(small, room.subarray(0, 25), facts), -1)
})

test('a file that the system has in memory costs no turn of another thread', async t => {
  if (fileCached(small, Buffer.alloc(100), new Uint8Array(8)) !== 26) return t.skip('the system has no such reads')
  const server = serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(file(small)) })
  t.after(() => server.stop(true))
  let calls = 0
  const hook = createHook({ init (_id, type) { if (type.startsWith('FS')) calls++ } }).enable()
  const { body } = await request(server.url)
  assert.equal(await body.text(), 'abcdefghijklmnopqrstuvwxyz')
  hook.disable()
  assert.equal(calls, 0)
})

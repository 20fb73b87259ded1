// Long runs of blanks and long names in texts that a peer sends. Where one of these calls looks at a run from each of its characters, its
// test does not come to an end.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import test from 'node:test'
import { fetch, Headers, request, Response } from 'trunkline'
import { remembering } from '../../dist/syntax/names.js'

const BLANKS = ' '.repeat(2 ** 21)

test('the fields of a part of a form may have long runs of blanks', async () => {
  const body = `--b\r\nContent-Disposition: form-data; name="a"\r\nx: a${BLANKS}b\r\n\r\nvalue\r\n--b--\r\n`
  const form = await new Response(body, { headers: { 'content-type': 'multipart/form-data; boundary=b' } }).formData()
  assert.equal(form.get('a'), 'value')
})

test('a content type may have long runs of blanks', async () => {
  for (const [given, type] of [[`a/b;x=1${BLANKS}2`, `a/b;x="1${BLANKS}2"`], [`a/b;x=1${BLANKS}2,c/d`, 'c/d'], [`a/b${BLANKS};x=1`, 'a/b;x=1'], [`a${BLANKS}/b`, '']]) {
    const blob = await new Response('text', { headers: { 'content-type': given } }).blob()
    assert.ok(blob.type === type, `${given.length} characters`)
  }
})

test('a value of a header may have long runs of blanks', () => {
  const headers = new Headers([['x', ` \t\r\na${BLANKS}b\t `]])
  assert.ok(headers.get('x') === `a${BLANKS}b`)
})

test('a data URL may have long runs of blanks in its type', async () => {
  const answer = await fetch(`data:a/b;x="${'\u0020'.repeat(2 ** 21).replaceAll(' ', '%20')}",text`)
  assert.equal(await answer.text(), 'text')
})

test('a field of a request may have long runs of blanks', async t => {
  const server = createServer((incoming, outgoing) => { outgoing.end(String(incoming.headers.x.length)) }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address()
  const { body } = await request(`http://127.0.0.1:${port}/`, { headers: { x: `  a${' '.repeat(8000)}b ` } })
  assert.equal(await body.text(), '8002')
  await assert.rejects(request(`http://127.0.0.1:${port}/`, { headers: { x: ` a${BLANKS}b` } }), /head/)
})

test('a long name is not remembered', () => {
  let looks = 0
  const look = remembering(() => ++looks)
  for (const name of ['short', 'short', 'long'.repeat(100), 'long'.repeat(100)]) look(name)
  assert.equal(looks, 3)
})

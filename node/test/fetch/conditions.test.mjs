// A request with a condition of its program's, as the Fetch standard and the fetch of Node.js send it.
import assert from 'node:assert/strict'
import test from 'node:test'
import { fetch } from 'trunkline'
import { h1 } from '../support/servers/servers.mjs'

test('a request with a condition asks the server and no cache on the way, unless the program says otherwise, as by the fetch of Node.js', async t => {
  const server = await h1((request, response) => { response.end(JSON.stringify([request.headers['cache-control'], request.headers.pragma])) })
  t.after(server.close)
  const sent = async (fetch, init) => await (await fetch(server.url, init)).json()
  const expected = { default: ['no-cache', 'no-cache'], 'no-cache': ['max-age=0', null], 'no-store': ['no-cache', 'no-cache'], 'force-cache': [null, null] }
  for (const field of ['if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since', 'if-range']) {
    for (const [cache, fields] of Object.entries(expected)) {
      for (const own of [globalThis.fetch, fetch]) assert.deepEqual(await sent(own, { cache, headers: { [field]: '"a"' } }), fields, `${field}, ${cache}`)
    }
  }
  for (const own of [globalThis.fetch, fetch]) {
    assert.deepEqual(await sent(own, { headers: { 'If-None-Match': '"a"', 'Cache-Control': 'max-age=5', pragma: 'x' } }), ['max-age=5', 'x'])
    assert.deepEqual(await sent(own, {}), [null, null])
  }
})

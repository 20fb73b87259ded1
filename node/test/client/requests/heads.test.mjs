// A head that comes again is remembered on its way to the engine; one that differs is its own.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Pool } from 'trunkline'
import { viaNew } from '../../support/clients/dispatch.mjs'
import { ways } from '../../support/servers/servers.mjs'

/**
 * A request as the server received it: method, path, host, and its fields but those of the
 * protocol.
 */
function received (request) {
  const own = Object.fromEntries(Object.entries(request.headers).filter(([name]) => name.startsWith('x-') || name === 'content-length'))
  return { method: request.method, url: request.url, host: request.headers.host ?? request.headers[':authority'], ...own }
}

for (const { name, serve, options } of ways) {
  test(`requests that differ from the one before in anything are sent as they are, over ${name}`, async t => {
    const server = await serve((request, response) => {
      request.resume().on('end', () => { response.end(JSON.stringify(received(request))) })
    })
    t.after(() => server.close())
    const pool = new Pool(server.url, options)
    t.after(() => pool.destroy())
    const { host } = new URL(server.url)
    const base = { method: 'GET', url: '/', host }
    const changed = { 'x-a': '1', 'x-b': '2' }
    const ask = async (asked, expected) => {
      const { body } = await viaNew(pool, { path: '/', method: 'GET', ...asked })
      assert.deepEqual(JSON.parse(body), { ...base, ...expected })
    }
    const iterated = { 'x-a': '1', 'x-b': '2', * [Symbol.iterator] () { yield ['x-c', '3'] } }
    const inheriting = Object.assign(Object.create({ 'x-b': '2' }), { 'x-a': '1' })
    for (let round = 0; round < 3; round++) {
      await ask({ headers: { 'x-a': '1', 'x-b': '2' } }, { 'x-a': '1', 'x-b': '2' })
      await ask({ headers: { 'x-a': '1', 'x-b': '2' }, path: '/b' }, { 'x-a': '1', 'x-b': '2', url: '/b' })
      await ask({ headers: { 'x-a': '1', 'x-b': '2' }, method: 'PUT' }, { 'x-a': '1', 'x-b': '2', method: 'PUT', 'content-length': '0' })
      await ask({ headers: { 'x-a': '1', 'x-b': '2' }, method: 'PUT', body: 'abc' }, { 'x-a': '1', 'x-b': '2', method: 'PUT', 'content-length': '3' })
      await ask({ headers: { 'x-a': '1', 'x-b': '2' }, query: { q: round } }, { 'x-a': '1', 'x-b': '2', url: `/?q=${round}` })
      await ask({ headers: { 'x-b': '2', 'x-a': '1' } }, { 'x-a': '1', 'x-b': '2' })
      await ask({ headers: { 'x-a': '1' } }, { 'x-a': '1' })
      await ask({ headers: { 'x-a': '1', 'x-b': '2', 'x-c': '3' } }, { 'x-a': '1', 'x-b': '2', 'x-c': '3' })
      await ask({ headers: { 'x-a': '1', 'x-b': undefined } }, { 'x-a': '1' })
      await ask({ headers: { 'x-a': '1', 'x-b': ['2', '3'] } }, { 'x-a': '1', 'x-b': '2, 3' })
      await ask({ headers: { 'x-a': '1', 'x-b': 2 } }, { 'x-a': '1', 'x-b': '2' })
      await ask({ headers: iterated }, { 'x-c': '3' })
      await ask({ headers: inheriting }, { 'x-a': '1' })
      await ask({ headers: ['x-a', '1', 'x-b', '2'] }, { 'x-a': '1', 'x-b': '2' })
      await ask({}, {})
      changed['x-b'] = `${round}`
      await ask({ headers: changed }, { 'x-a': '1', 'x-b': `${round}` })
      changed['x-b'] += 'b'
      await ask({ headers: changed }, { 'x-a': '1', 'x-b': `${round}b` })
      await assert.rejects(ask({ headers: { 'x-a': '1', 'x-b': 'a\nb' } }), { code: 'UND_ERR_INVALID_ARG' })
    }
  })

  test(`one dispatcher's head is not another's, whose origin or host differs, over ${name}`, async t => {
    const servers = await Promise.all([1, 2].map(number => serve((request, response) => { response.end(`${number} ${received(request).host}`) })))
    t.after(() => Promise.all(servers.map(server => server.close())))
    const pools = servers.map(server => new Pool(server.url, options))
    t.after(() => Promise.all(pools.map(pool => pool.destroy())))
    for (let round = 0; round < 3; round++) {
      for (const [index, pool] of pools.entries()) {
        const printed = await viaNew(pool, { path: '/', method: 'GET', headers: { 'x-a': '1' } })
        assert.equal(printed.body.toString(), `${index + 1} ${new URL(servers[index].url).host}`)
        const named = await viaNew(pool, { path: '/', method: 'GET', headers: { 'x-a': '1', host: 'localhost' } })
        assert.equal(named.body.toString(), `${index + 1} localhost`)
      }
    }
  })
}

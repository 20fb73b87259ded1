// undici's MockAgent of each line in front of an Agent of ours, behind interceptors of that line, by our calls.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import test from 'node:test'
import { Agent, Client, Dispatcher, fetch, FormData, Pool, request } from 'trunkline'

const require = createRequire(import.meta.url)
const ORIGIN = 'http://mocked.test'

for (const line of ['undici6', 'undici7', 'undici8']) {
  // undici 8 needs a newer Node.js.
  const skip = line === 'undici8' && Number.parseInt(process.versions.node, 10) < 22 && 'undici 8 needs Node.js 22'

  /** A mock of the line behind an interceptor of it. */
  const mocked = () => {
    const { MockAgent, interceptors } = require(line)
    const mock = new MockAgent({ agent: new Agent() })
    mock.disableNetConnect()
    return { mock, pool: mock.get(ORIGIN), dispatcher: mock.compose(interceptors.redirect({ maxRedirections: 2 })) }
  }

  test(`${line}: a request and a fetch through an interceptor get the answer of a mock`, { skip }, async t => {
    const { mock, pool, dispatcher } = mocked()
    t.after(() => mock.close())
    pool.intercept({ path: '/', method: 'GET' }).reply(200, 'mocked').persist()
    const { body } = await request(ORIGIN, { dispatcher })
    assert.equal(await body.text(), 'mocked')
    assert.equal(await (await fetch(ORIGIN, { dispatcher })).text(), 'mocked')
  })

  test(`${line}: a fetch follows a redirect itself, also behind the interceptor`, { skip }, async t => {
    const { mock, pool, dispatcher } = mocked()
    t.after(() => mock.close())
    pool.intercept({ path: '/', method: 'GET' }).reply(302, '', { headers: { location: '/there' } })
    pool.intercept({ path: '/there', method: 'GET' }).reply(200, 'there')
    const response = await fetch(ORIGIN, { dispatcher })
    assert.deepEqual([response.url, response.redirected, await response.text()], [`${ORIGIN}/there`, true, 'there'])
  })

  test(`${line}: a mock compares the body of a fetch as it was given`, { skip }, async t => {
    const { mock, pool } = mocked()
    t.after(() => mock.close())
    const form = new FormData()
    for (const body of ['text', form, new Blob(['blob'])]) {
      pool.intercept({ path: '/', method: 'POST', body: given => given === body }).reply(200, 'equal')
      assert.equal(await (await fetch(ORIGIN, { method: 'POST', body, dispatcher: mock })).text(), 'equal')
    }
    pool.intercept({ path: '/', method: 'POST', body: given => given instanceof Uint8Array && String(given) === '97,98' }).reply(200, 'equal')
    assert.equal(await (await fetch(ORIGIN, { method: 'POST', body: new Uint8Array([97, 98]), dispatcher: mock })).text(), 'equal')
  })

  test(`${line}: options that are for the call alone do not reach a mock, and raw fields are texts`, { skip }, async t => {
    const { mock, pool } = mocked()
    t.after(() => mock.close())
    let given
    pool.intercept({ path: '/', method: 'GET' }).reply(options => {
      given = Object.keys(options)
      return { statusCode: 200, data: 'x', responseOptions: { headers: { 'x-a': 'b' } } }
    })
    const { headers, body } = await request(ORIGIN, { dispatcher: mock, responseHeaders: 'raw' })
    await body.text()
    assert.deepEqual(headers, ['x-a', 'b'])
    assert.ok(!given.includes('agent') && !given.includes('dispatcher'), given.join())
  })

  test(`${line}: a MockAgent is a Dispatcher, and what it gives is a Client or a Pool`, { skip }, async t => {
    const { MockAgent } = require(line)
    const one = new MockAgent({ agent: new Agent({ connections: 1 }), connections: 1 })
    const many = new MockAgent({ agent: new Agent() })
    t.after(() => Promise.all([one.close(), many.close()]))
    const classes = [Dispatcher, Client, Pool, Agent]
    const of = value => classes.filter(one => value instanceof one)
    assert.deepEqual([of(many), of(one.get(ORIGIN)), of(many.get(ORIGIN))], [[Dispatcher], [Dispatcher, Client], [Dispatcher, Pool]])
    class Mine extends Agent {}
    const mine = new Mine()
    t.after(() => mine.close())
    assert.deepEqual([mine instanceof Mine, mine instanceof Agent, many instanceof Mine], [true, true, false])
  })
}

// `request.cookies` of `serve`: what came, and what the answer sets. The expected values are those of Bun 1.4.5, run once.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Response as Lean, serve } from 'trunkline'
import { versions } from '../support/clients/clients.mjs'

const CAME = 'a=1; b="q%20r"; =x; c; a=2; d = e ; e%20f=g%20h;__proto__=3'
const LEFT = [['d', 'e'], ['e%20f', 'g h'], ['__proto__', '3']]
const EPOCH = 'Thu, 01 Jan 1970 00:00:00 GMT'

function change (cookies) {
  cookies.set('x', 'y z;ü')
  cookies.set('o', 'v', { path: '/p', domain: 'e.com', httpOnly: true, secure: true, sameSite: 'strict', maxAge: 5, expires: new Date(0), partitioned: true })
  cookies.set({ name: 'n', value: '1' })
  cookies.delete('a')
  cookies.delete({ name: 'b', path: '/q', domain: 'd.com' })
  cookies.delete('b', { path: '/r' })
}
const SET = [
  'x=y%20z%3B%C3%BC; Path=/; SameSite=Lax',
  `o=v; Domain=e.com; Path=/p; Expires=${EPOCH}; Max-Age=5; Secure; HttpOnly; Partitioned; SameSite=Strict`,
  'n=1; Path=/; SameSite=Lax',
  `a=; Path=/; Expires=${EPOCH}; SameSite=Lax`,
  `b=; Path=/r; Expires=${EPOCH}; SameSite=Lax`
]

/** Bodies by kind: an answer's cookies go with each of them. */
const ANSWERS = {
  'a text': () => new Lean('body'),
  'an answer of the built-in class': () => new Response('body', { headers: { 'x-a': 'b' } }),
  'a stream': () => new Response(new ReadableStream({ start (own) { own.enqueue(Buffer.from('body')); own.close() } })),
  'one with a cookie of its own': () => new Lean('body', { headers: { 'set-cookie': 'own=1' } }),
  'a promise': async () => new Lean('body')
}

/** Asks a server whose handler is `fetch`. */
async function asked (version, fetch, headers) {
  const server = serve({ hostname: '127.0.0.1', ...version.options, fetch })
  const client = version.connect(server.port)
  try {
    return await client.ask('/', { headers })
  } finally {
    await client.close()
    await server.close({ deadlineMs: 1000 })
  }
}
const setIn = ({ headers }) => [headers['set-cookie'] ?? []].flat()

for (const version of versions) {
  test(`${version.name}: cookies that came are read by name, in their order, decoded, and none is set by that`, async () => {
    let seen
    const answer = await asked(version, ({ cookies }) => {
      seen = [cookies.size, cookies.get('a'), cookies.get('b'), cookies.get('none'), cookies.has('a'), cookies.has('none'), [...cookies], [...cookies.keys()], [...cookies.values()], JSON.stringify(cookies)]
      return new Lean('body')
    }, { cookie: CAME })
    const all = [['a', '1'], ['b', '"q r"'], ['a', '2'], ...LEFT]
    assert.deepEqual(seen, [6, '1', '"q r"', null, true, false, all, all.map(([name]) => name), all.map(([, value]) => value), '{"a":"1","b":"\\"q r\\"","d":"e","e%20f":"g h","__proto__":"3"}'])
    assert.deepEqual(setIn(answer), [])
  })

  test(`${version.name}: cookies that are set and deleted are in set-cookie of every kind of answer`, async () => {
    for (const [kind, make] of Object.entries(ANSWERS)) {
      let seen
      const answer = await asked(version, ({ cookies }) => {
        change(cookies)
        seen = [cookies.size, cookies.get('a'), cookies.get('x'), [...cookies.entries()]]
        return make()
      }, { cookie: CAME })
      assert.deepEqual(seen, [6, null, 'y z;ü', [['x', 'y z;ü'], ['o', 'v'], ['n', '1'], ...LEFT]])
      assert.deepEqual(setIn(answer), kind === 'one with a cookie of its own' ? ['own=1', ...SET] : SET, kind)
      assert.equal(String(answer.body), 'body', kind)
    }
  })
}

test('a request without cookies has none, and what is no cookie is refused with the name of what is wrong', async () => {
  let words
  const answer = await asked(versions[0], ({ cookies }) => {
    assert.equal(cookies.size, 0)
    const calls = [
      () => cookies.set('bad name', 'x'), () => cookies.set('', 'x'), () => cookies.set('q', 'v', { path: 'a;b' }), () => cookies.set('q', 'v', { path: 'a\r\nb' }),
      () => cookies.set('q', 'v', { domain: 'a;b' }), () => cookies.set('q', 'v', { sameSite: 'foo' }), () => cookies.set('q', 'v', { expires: 'foo' }), () => cookies.delete('')
    ]
    words = calls.map(call => {
      try {
        return call()
      } catch (error) {
        return `${error.name} ${/^Invalid (cookie name|cookie path|cookie domain|sameSite|cookie expiration date)/.exec(error.message)?.[1]}`
      }
    })
    cookies.set('__Host-x', 5)
    cookies.set('later', 'v', { expires: 5, maxAge: 1.5 })
    return new Lean('body')
  }, {})
  assert.deepEqual(words, ['cookie name', 'cookie name', 'cookie path', 'cookie path', 'cookie domain', 'sameSite', 'cookie expiration date', 'cookie name'].map(what => `TypeError ${what}`))
  assert.deepEqual(setIn(answer), ['__Host-x=5; Path=/; SameSite=Lax', 'later=v; Path=/; Expires=Thu, 01 Jan 1970 00:00:05 GMT; Max-Age=1.5; SameSite=Lax'])
})

test('what is forgotten of a cookie is refused or left as it is, and no cookie is called undefined', async () => {
  let words
  const answer = await asked(versions[0], ({ cookies }) => {
    words = [() => cookies.set(), () => cookies.set('n'), () => cookies.set({ value: 'v' }), () => cookies.set({ name: 'o' }), () => cookies.set('p', 'v', { path: null }), () => cookies.set('q', 'v', { path: '' }), () => cookies.delete(), () => cookies.delete({})].map(call => {
      try {
        return String(call())
      } catch (error) {
        return `${error.name} ${error.message.split(':', 1)[0]}`
      }
    })
    return new Lean('body')
  }, {})
  assert.deepEqual(words, ['undefined', 'TypeError Invalid cookie value', 'TypeError Invalid cookie name', 'undefined', 'undefined', 'undefined', 'undefined', 'TypeError Invalid cookie name'])
  assert.deepEqual(setIn(answer), ['o=; Path=/; SameSite=Lax', 'p=v; Path=/; SameSite=Lax', 'q=v; SameSite=Lax'])
})

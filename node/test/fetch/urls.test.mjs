// URLs of one origin, which are parsed where the URL standard may change them alone.
import assert from 'node:assert/strict'
import test from 'node:test'
import { parseUrl, partsOfUrl } from '../../dist/fetch/url.js'
import { plainPath } from '../../dist/syntax/url_path.js'

const ORIGINS = ['http://localhost', 'http://localhost:8080', 'https://a.example', 'http://[::1]:3000', 'https://xn--bcher-kva.example:444']
const PIECES = [
  '/', '/', '/', '//', 'a', 'Zz', '09', '_', '-', '.', '..', '...', '.a', 'a.', '%2e', '%2E', '.%2e', '%41', '%', '%zz', '\\', '?', '?', '#', '@', ':', ':80', ' ', '\t', '\n', '\r',
  "'", '"', '<', '>', '^', '|', '`', '{', '}', '[', ']', 'é', '\u{1f600}', '\ud800', '&', '=', '+', '~', '!', '$', '(', ')', '*', ',', ';', '\0', '\x7f', '\xa0'
]

/** Numbers below `bound` that are the same in each run. */
function numbers (seed) {
  let state = seed
  return bound => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor(state / 2 ** 32 * bound)
  }
}

function parsed (text) {
  try {
    return partsOfUrl(new URL(text))
  } catch {
    return null
  }
}

test('a URL of the origin that was asked for last has the parts that parsing gives it, whatever its characters', () => {
  const next = numbers(7)
  let plain = 0
  for (let round = 0; round < 40_000; round++) {
    const origin = ORIGINS[next(ORIGINS.length)]
    const text = origin + Array.from({ length: 1 + next(8) }, (_, at) => at === 0 && next(4) > 0 ? '/' : PIECES[next(PIECES.length)]).join('')
    const expected = parsed(text)
    assert.deepEqual(parseUrl(text), expected, JSON.stringify(text))
    for (const of of ORIGINS) {
      const path = plainPath(text, of)
      if (path === null) continue
      plain++
      assert.deepEqual({ origin: of, path, href: text }, { origin: expected?.origin, path: expected?.path, href: expected?.href }, JSON.stringify(text))
    }
  }
  assert.ok(plain > 1000, `${plain} were plain`)
})

test('the usual paths and queries are not parsed again', () => {
  for (const path of ['/', '/a', '/a/', '/a//b', '/v1/items/17.json', '/search?q=a%20b&page=2', '/a?b?c/../d', '/~user/(x)!$&*+,;=:@']) {
    assert.equal(plainPath(`https://a.example${path}`, 'https://a.example'), path)
  }
})

test('what parsing may change is parsed', () => {
  for (const rest of ['', 'x', '/?', '/a?', ':81/', '@b.example/', '/./a', '/a/../b', '/%2e%2e/a', '/.well-known/x', '/a b', '/a#b', '/ü', "/a?b='c'", '/a\\b', '/a\n', '/%41']) {
    assert.equal(plainPath(`https://a.example${rest}`, 'https://a.example'), null, rest)
  }
  assert.equal(plainPath('HTTPS://a.example/', 'https://a.example'), null)
})

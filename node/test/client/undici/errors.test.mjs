// docs/guide/node-errors.md beside the classes that it documents.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { errors } from 'trunkline'

const page = readFileSync(new URL('../../../../docs/guide/node-errors.md', import.meta.url), 'utf8')
/** Names of undici's base class: no error has it alone. */
const OF_NO_ERROR = new Set(['TrunklineError', 'UndiciError'])
const classes = Object.entries(errors).filter(([name, value]) => typeof value === 'function' && value.prototype instanceof errors.UndiciError && !OF_NO_ERROR.has(name))

test('the page of errors has a section for the code of each class', () => {
  assert.ok(classes.length > 20, `${classes.length} classes`)
  for (const [name, Class] of classes) {
    const { code } = new Class('for its code', undefined, {})
    const section = page.split(/^### /m).find(text => text.startsWith(`${code}\n`))
    assert.ok(section !== undefined, `${name}: no section ${code}`)
    assert.ok(section.includes(`\`${name}\``), `the section ${code} does not name ${name}`)
  }
})

test('links of the page of errors lead to its sections', () => {
  const anchors = new Set([...page.matchAll(/^#{2,3} (.+)$/gm)].map(([, title]) => title.toLowerCase()))
  for (const [, id] of page.matchAll(/<a id="([^"]+)">/g)) anchors.add(id)
  const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor)
  assert.ok(links.length > 0)
  for (const link of links) assert.ok(anchors.has(link), `#${link}`)
})

/** Names of the same form that are no codes of errors that a program gets. */
const NO_CODES = new Set(['ERR_SSL_', 'ECDSA', 'ECDHE', 'EECDH', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EPERM', 'TRUNKLINE_BODY', 'TRUNKLINE_CONNECTOR', 'TRUNKLINE_ENGINE', 'TRUNKLINE_EXCHANGE', 'TRUNKLINE_TRACE', 'TRUNKLINE_POOL_WAITING', 'UND_ERR_HTTP_PARSER'])

test('every code of an error that the sources name has a place on the page, at the anchor that help leads to', () => {
  const folder = new URL('../../../src/', import.meta.url)
  const sources = readdirSync(folder, { recursive: true }).filter(file => file.endsWith('.ts')).map(file => readFileSync(new URL(file, folder), 'utf8'))
  const form = /'((?:UND_ERR_|ERR_|TRUNKLINE_|HPE_)[A-Z0-9_]+|E[A-Z]{4,}|UNABLE_TO_[A-Z_]+|CERT_[A-Z_]+)'/g
  const codes = new Set(sources.flatMap(text => [...text.matchAll(form)].map(([, code]) => code)).filter(code => !NO_CODES.has(code)))
  assert.ok(codes.size > 100, `${codes.size} codes`)
  const without = [...codes].filter(code => !page.includes(`\n### ${code}\n`) && !page.includes(`<a id="${code.toLowerCase()}"></a>\`${code}\``))
  assert.deepEqual(without, [])
  const error = new errors.SocketError('of a socket')
  const alert = new errors.UndiciError('of an alert', 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE')
  assert.equal(alert.help, 'docs/node-errors.md#err_ssl_protocol_error')
  assert.equal(error.help, 'docs/node-errors.md#und_err_socket')
  assert.deepEqual(Object.keys(error).filter(name => name === 'help'), [])
})

/** undici 8 needs Node.js 22. */
const versions = Number.parseInt(process.versions.node, 10) < 22 ? ['undici6', 'undici7'] : ['undici6', 'undici7', 'undici8']

for (const name of versions) {
  const theirs = await import(name)
  test(`the classes of ${name} and ours know each other's errors, and ours have no other exports beside them`, () => {
    for (const [key, Class] of Object.entries(theirs.errors)) {
      // Errors of undici's own parser, and of an option that undici 7 removed.
      if (key === 'WebAssemblyNotSupportedError' || key === 'ResponseStatusCodeError') continue
      // It has arguments of its own in undici, and is no UndiciError there.
      const isOfParser = key === 'HTTPParserError'
      const Own = errors[key]
      assert.equal(typeof Own, 'function', key)
      const made = [new Class('of undici', 500, {}), new Own('of ours', 500, {})]
      for (const error of made) {
        // undici knows errors of its SOCKS proxies by their own class alone.
        if (key !== 'Socks5ProxyError') assert.ok(error instanceof Own && error instanceof Class, key)
        assert.ok(isOfParser || error instanceof errors.UndiciError, key)
      }
      // The second argument of our base class is the code.
      if (isOfParser || key === 'UndiciError') continue
      const [their, own] = made
      assert.deepEqual([own.name, own.code], [their.name, their.code], key)
      // undici 8 has another capital in one of them.
      assert.equal(new Own('', undefined, {}).message.toLowerCase(), new Class('', undefined, {}).message.toLowerCase(), key)
    }
    for (const [key, value] of Object.entries(errors)) assert.ok(typeof value === 'function' && key.endsWith('Error'), key)
    assert.equal(new Error('of the program') instanceof errors.UndiciError, false)
  })
}

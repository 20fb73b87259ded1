// Every option of a request with every kind of value: what arrives at a server, or the refusal.
import { bytesOf } from '../stage.mjs'

const VALUES = { 'null': null, '-1': -1, '0': 0, '1': 1, '1.5': 1.5, 'NaN': NaN, "''": '', "'asd'": 'asd', 'true': true, 'false': false, '{}': {}, '[]': [] }
const NAMES = [
  'path', 'method', 'headersTimeout', 'bodyTimeout', 'upgrade', 'reset', 'expectContinue', 'throwOnError', 'maxRedirections',
  'idempotent', 'blocking', 'query', 'headers', 'body', 'signal', 'onInfo', 'highWaterMark', 'responseHeaders', 'opaque', 'origin', 'servername', 'typeOfService'
]
/** Fields that every server of Node.js and every client adds. */
const USUAL = new Set(['host', 'connection'])

async function run (module, stage, options) {
  const log = stage.log('client')
  const served = await stage.serve(async (req, res) => {
    const body = await bytesOf(req).catch(error => Buffer.from(error.code ?? ''))
    const fields = []
    for (let at = 0; at < req.rawHeaders.length; at += 2) if (!USUAL.has(req.rawHeaders[at].toLowerCase())) fields.push(`${req.rawHeaders[at]}=${req.rawHeaders[at + 1]}`)
    stage.log('server')(req.method, req.url, fields.join(' '), body.length)
    res.end('ok')
  })
  served.server.on('upgrade', (req, socket) => {
    stage.log('server')('upgrade', req.headers.upgrade)
    socket.destroy()
  })
  const client = stage.own(new module.Client(served.url))
  try {
    const { statusCode, headers, body, opaque } = await client.request({ path: '/', method: 'GET', ...options })
    log(statusCode, Array.isArray(headers) ? 'list' : typeof headers, opaque === undefined ? 'nothing' : String(opaque), await body.text())
  } catch (error) {
    log('failed', error.name, error.code, error.message)
  }
}

const programs = {}
/** A time that may pass before the answer comes, or not, says nothing. */
const isShort = (name, given) => name.endsWith('Timeout') && given > 0

for (const name of NAMES) {
  for (const [value, given] of Object.entries(VALUES)) {
    if (isShort(name, given)) continue
    programs[`${name}: ${value}`] = (module, stage) => run(module, stage, { [name]: given })
  }
}
for (const [label, headers] of Object.entries({
  'an odd list': ['a'],
  'a list of pairs': [['a', 'b']],
  'a flat list': ['a', '1', 'b', '2'],
  'a Map': new Map([['a', '1']]),
  'an iterable of triples': new Set([['a', 'b', 'c']]),
  'a bad name': { 'a b': 'c' },
  'an empty name': { '': 'c' },
  'a bad value': { a: 'b\nc' },
  'a zero': { a: 'b\0c' },
  'a value above one byte': { a: 'ł' },
  'latin1': { a: 'é' },
  'an object': { a: {} },
  'a list of values': { a: ['b', 'c'] },
  'a list with null': { a: ['b', null] },
  'a list with an object': { a: [{}] },
  'a number': { a: 1 },
  'a boolean': { a: true },
  'a symbol': { a: Symbol('b') },
  'a function': { a: () => {} },
  'transfer-encoding': { 'transfer-encoding': 'chunked' },
  'keep-alive': { 'keep-alive': 'timeout=1' },
  'upgrade': { upgrade: 'a' },
  'Transfer-Encoding': { 'Transfer-Encoding': 'chunked' },
  'Keep-Alive': { 'Keep-Alive': 'timeout=1' },
  'Upgrade': { Upgrade: 'a' },
  'Expect': { Expect: '100-continue' },
  'Connection bad': { Connection: 'a b' },
  'Content-Length asd': { 'Content-Length': 'asd' },
  'expect': { expect: '100-continue' },
  'connection asd': { connection: 'asd' },
  'connection close': { connection: 'close' },
  'connection keep-alive': { connection: 'keep-alive' },
  'connection with a comma': { connection: 'close, te' },
  'connection bad': { connection: 'a b' },
  'content-length asd': { 'content-length': 'asd' },
  'content-length negative': { 'content-length': '-1' },
  'content-length 0': { 'content-length': '0' },
  'content-length 5': { 'content-length': '5' },
  'content-length twice': [['content-length', '0'], ['Content-Length', '0']].flat(),
  'host': { host: 'example.test' },
  'Host': { Host: 'example.test' },
  'host empty': { host: '' },
  'host twice': ['host', 'a', 'Host', 'b'],
  'host a list': { host: ['a'] },
  'user-agent': { 'User-Agent': 'x' },
  'proxy-connection': { 'proxy-connection': 'keep-alive' },
  'te': { te: 'trailers' },
  'trailer': { trailer: 'x' },
  'undefined': { a: undefined },
  'null': { a: null },
  'spaces around': { a: '  b ' },
  'a tab': { a: 'b\tc' },
  'a long name': { ['a'.repeat(300)]: 'b' },
  'http2-settings': { 'http2-settings': 'x' },
  'date': { a: new Date(0) }
})) {
  programs[`headers, ${label}`] = (module, stage) => run(module, stage, { headers })
}
for (const path of ['/', '', 'a', '/a b', '/ä', '/%', '/a#b', '/a?b=c', '//a', '*', 'http://other.test/a', 'https://other.test', 'ftp://a', '/a\nb', '/a\0', '/\u{1f600}', '/a?b=c#d', '?a']) {
  const label = path === '*' ? 'an asterisk' : JSON.stringify(path)
  for (const method of ['GET', 'OPTIONS']) programs[`path ${label}, ${method}`] = (module, stage) => run(module, stage, { path, method })
}
for (const method of ['get', 'POST', 'post', 'FOO', 'a b', 'CONNECT', 'HEAD', 'PROPFIND', 'QUERY', 'TRACE', 'PATCH', 'DELETE', 'M-SEARCH']) {
  for (const body of [undefined, 'abc', '']) programs[`method ${method}, body ${JSON.stringify(body)}`] = (module, stage) => run(module, stage, { method, body })
}
for (const [label, query] of Object.entries({
  'text': { a: 'b' }, 'list': { a: [1, 2] }, 'empty list': { a: [] }, 'null': { a: null }, 'nothing': { a: undefined }, 'object': { a: { b: 1 } }, 'number': { a: 1 }, 'boolean': { a: false },
  'empty': {}, 'space': { 'a b': 'c d' }, 'special': { a: "~!*'()" }, 'date': { a: new Date(0) }, 'bigint': { a: 1n }, 'plus': { a: '1+1' }, 'unicode': { ä: 'ö' }, 'nested list': { a: [[1]] }
})) {
  programs[`query, ${label}`] = (module, stage) => run(module, stage, { query })
}
for (const path of ['/?a', '/#a']) programs[`query behind ${path}`] = (module, stage) => run(module, stage, { path, query: { b: 1 } })

export default programs

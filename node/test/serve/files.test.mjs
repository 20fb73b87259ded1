// Files as answers of `serve`: types, conditions, ranges, and folders from which nothing else of the disk is read.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { file, FormData, Response as Lean, serve } from 'trunkline'
import { versions } from '../support/clients/clients.mjs'
import { serveFor } from '../support/servers/serving.mjs'

const TEXT = 'abcdefghij'
const MODIFIED = new Date('2024-05-06T07:08:09Z')

/** A folder that goes with the test. */
function folder (t) {
  const made = mkdtempSync(join(tmpdir(), 'trunkline-test-files-'))
  t.after(() => { rmSync(made, { recursive: true }) })
  return made
}

function writeAt (path, text) {
  writeFileSync(path, text)
  utimesSync(path, MODIFIED, MODIFIED)
  return path
}

/** Runs `work` with a client of the version and a server. */
async function withClient (version, options, work) {
  const server = serve({ hostname: '127.0.0.1', ...version.options, ...options })
  const client = version.connect(server.port)
  try {
    return await work(client)
  } finally {
    await client.close()
    await server.close({ deadlineMs: 1000 })
  }
}

for (const version of versions) {
  test(`${version.name}: a file has a type, a tag and a date, and heeds conditions and ranges`, async t => {
    const path = writeAt(join(folder(t), 'some text.txt'), TEXT)
    const fetch = request => new Lean(file(path), { headers: new URL(request.url).pathname === '/own' ? { etag: 'W/"mine"', 'content-type': 'x/y' } : {} })
    await withClient(version, { fetch }, async client => {
      const plain = await client.ask('/')
      assert.deepEqual(
        [plain.status, plain.headers['content-type'], plain.headers['last-modified'], plain.headers['accept-ranges'], plain.headers['content-length'], String(plain.body)],
        [200, 'text/plain;charset=utf-8', MODIFIED.toUTCString(), 'bytes', '10', TEXT])
      const { etag } = plain.headers
      assert.match(etag, /^"[0-9a-f]+-[0-9a-f]+"$/)
      const date = seconds => new Date(MODIFIED.getTime() + seconds * 1000).toUTCString()
      const asked = async (headers, options = {}) => {
        const answer = await client.ask('/', { headers, ...options })
        return [answer.status, String(answer.body), answer.headers['content-range']]
      }
      const [whole, none, failed] = [[200, TEXT, undefined], [304, '', undefined], [412, '', undefined]]
      const part = (first, last) => [206, TEXT.slice(first, last + 1), `bytes ${first}-${last}/10`]
      const beyond = [416, '', 'bytes */10']
      const cases = [
        [{ 'if-none-match': etag }, none], [{ 'if-none-match': `W/${etag}` }, none], [{ 'if-none-match': `"x", ${etag}` }, none], [{ 'if-none-match': '*' }, none],
        [{ 'if-none-match': '"x"' }, whole], [{ 'if-none-match': '"x, y"' }, whole],
        [{ 'if-modified-since': date(0) }, none], [{ 'if-modified-since': date(1) }, none], [{ 'if-modified-since': date(-1) }, whole], [{ 'if-modified-since': 'no date' }, whole],
        [{ 'if-none-match': '"x"', 'if-modified-since': date(0) }, whole],
        [{ 'if-match': etag }, whole], [{ 'if-match': `W/${etag}` }, failed], [{ 'if-match': '"x"' }, failed], [{ 'if-match': '*' }, whole],
        [{ 'if-unmodified-since': date(0) }, whole], [{ 'if-unmodified-since': date(-1) }, failed],
        [{ range: 'bytes=2-4' }, part(2, 4)], [{ range: 'bytes=7-' }, part(7, 9)], [{ range: 'bytes=-3' }, part(7, 9)], [{ range: 'bytes=-30' }, part(0, 9)], [{ range: 'bytes=0-99' }, part(0, 9)],
        [{ range: 'bytes=0-0' }, part(0, 0)], [{ range: 'bytes=9-9' }, part(9, 9)], [{ range: 'bytes=10-' }, beyond], [{ range: 'bytes=-0' }, beyond], [{ range: 'bytes=99999999999999999999-' }, beyond],
        [{ range: 'bytes=4-2' }, whole], [{ range: 'bytes=-' }, whole], [{ range: 'bytes=a-b' }, whole], [{ range: 'lines=1-2' }, whole], [{ range: 'bytes=1-2, 4-5' }, whole],
        [{ range: 'bytes=2-4', 'if-range': etag }, part(2, 4)], [{ range: 'bytes=2-4', 'if-range': '"x"' }, whole], [{ range: 'bytes=2-4', 'if-range': `W/${etag}` }, whole],
        [{ range: 'bytes=2-4', 'if-range': date(0) }, part(2, 4)], [{ range: 'bytes=2-4', 'if-range': date(1) }, whole], [{ range: 'bytes=2-4', 'if-range': 'no date' }, whole],
        [{ range: 'bytes=2-4', 'if-none-match': etag }, none]
      ]
      for (const [headers, expected] of cases) assert.deepEqual(await asked(headers), expected, JSON.stringify(headers))
      assert.deepEqual(await asked({ 'if-none-match': etag }, { method: 'HEAD' }), none)
      assert.deepEqual(await asked({ range: 'bytes=2-4' }, { method: 'HEAD' }), [200, '', undefined])
      assert.deepEqual(await asked({ range: 'bytes=2-4', 'if-none-match': etag }, { method: 'POST' }), whole)
      const own = await client.ask('/own', { headers: { 'if-none-match': '"mine"' } })
      assert.deepEqual([own.status, own.headers.etag], [304, 'W/"mine"'])
      assert.equal((await client.ask('/own')).headers['content-type'], 'x/y')
    })
  })

  test(`${version.name}: folders give their files, and what is not there goes to fetch`, async t => {
    const root = folder(t)
    const outside = folder(t)
    mkdirSync(join(root, 'sub', 'deep'), { recursive: true })
    mkdirSync(join(root, '.hidden'))
    mkdirSync(join(root, 'bare'))
    for (const [path, text] of [['index.html', 'front'], ['sub/index.html', 'sub front'], ['sub/a b.css', 'styles'], ['sub/ä.json', '{}'], ['.env', 'secret'], ['.hidden/x', 'secret'], ['sub/..x', 'secret']]) {
      writeAt(join(root, path), text)
    }
    writeAt(join(outside, 'secret'), 'secret')
    symlinkSync(outside, join(root, 'link'))
    symlinkSync(join(root, '.env'), join(root, 'visible'))
    symlinkSync(join(root, 'sub'), join(root, 'inner'))
    const fetch = request => new Lean(`fetch ${request.method}`, { status: 404 })
    await withClient(version, { fetch, static: { '/': root, '/files': { folder: pathToFileURL(root), index: false, headers: { 'x-a': 'b' } } } }, async client => {
      const asked = async (path, method = 'GET') => {
        const { status, body, headers } = await client.ask(path, { method })
        return [status, headers.location ?? String(body)]
      }
      const absent = [404, 'fetch GET']
      const cases = {
        '/': [200, 'front'], '/index.html': [200, 'front'], '/sub/': [200, 'sub front'], '/sub': [308, '/sub/'], '/sub?a=b': [308, '/sub/?a=b'], '/sub/a%20b.css': [200, 'styles'], '/sub/a%20b.css?x': [200, 'styles'],
        '/sub/%C3%A4.json': [200, '{}'], '/inner/': [200, 'sub front'], '/bare/': absent, '/bare': absent, '/none': absent, '/index.html/': absent, '/index.html/x': absent, '/sub//a%20b.css': absent,
        '/files/index.html': [200, 'front'], '/files/': absent, '/files': absent, '/filesindex.html': absent,
        '/.env': absent, '/%2eenv': absent, '/.hidden/x': absent, '/sub/..x': absent, '/visible': absent, '/link/secret': absent, '/link': absent,
        '/%2e%2e/secret': absent, '/..%2fsecret': absent, '/sub%2findex.html': absent, '/sub%5cindex.html': absent, '/a%00b': absent, '/%': absent, '/%ff': absent
      }
      for (const [path, expected] of Object.entries(cases)) assert.deepEqual(await asked(path), expected, path)
      assert.deepEqual(await asked('/', 'HEAD'), [200, ''])
      assert.deepEqual(await asked('/', 'POST'), [404, 'fetch POST'])
      const { headers } = await client.ask('/files/sub/a%20b.css')
      assert.deepEqual([headers['content-type'], headers['x-a'], headers['accept-ranges']], ['text/css;charset=utf-8', 'b', 'bytes'])
    })
  })
}

test('paths that lead out of a folder, as no client of good manners sends them, find nothing', async t => {
  const root = folder(t)
  mkdirSync(join(root, 'public'))
  writeAt(join(root, 'secret'), 'secret')
  writeAt(join(root, 'public', 'open'), 'open')
  const server = serveFor(t, { static: join(root, 'public') })
  const raw = async target => {
    const socket = connect(server.port, '127.0.0.1')
    socket.end(`GET ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)
    let text = ''
    socket.on('data', chunk => { text += chunk })
    await once(socket, 'close')
    return text
  }
  assert.match(await raw('/open'), /^HTTP\/1\.1 200 [^]*open$/)
  for (const target of ['/../secret', '/..', '/../', '//../secret', '/./../secret', '/x/../../secret', '/%2e%2e/secret', '/%2e%2e%2fsecret', '/..%2fsecret', '/..\\secret', '/..%5csecret', '/%252e%252e/secret',
    'http://a/../secret', '//etc/hostname', '/%2fetc/hostname', '/open/../../secret', '/....//secret', '/..;/secret', '/\u00000']) {
    const text = await raw(target)
    assert.match(text, /^HTTP\/1\.1 40[04] /, target)
    assert.doesNotMatch(text, /secret/, target)
  }
})

test('a folder that is not there is an answer of 404, and one that cannot be one is refused', async t => {
  const server = serveFor(t, { static: join(folder(t), 'absent') })
  assert.equal((await fetch(server.url)).status, 404)
  for (const [given, message] of [[5, /static/], [{ assets: '.' }, /must begin with a slash/], [{ '/': 5 }, /path or a file URL/], [null, /static/]]) {
    assert.throws(() => serve({ static: given }), message)
  }
})

test('a type is found by the end of a name, or given', () => {
  const types = { 'a.html': 'text/html;charset=utf-8', 'A.PNG': 'image/png', 'a.tar.gz': 'application/gzip', a: 'application/octet-stream', 'a.constructor': 'application/octet-stream', 'dir.js/a': 'application/octet-stream' }
  for (const [name, type] of Object.entries(types)) assert.equal(file(name).type, type, name)
  assert.equal(file('a.html', { type: 'x/y' }).type, 'x/y')
  assert.equal(file('/a/b.txt').name, 'b.txt')
  assert.equal(new Lean(file('a.svg')).headers.get('content-type'), 'image/svg+xml')
})

test('a file can be read, whole and in parts as bytes are divided', async t => {
  const text = '{"a": "grün"}'
  const path = writeAt(join(folder(t), 'data.json'), text)
  const whole = file(path)
  const bytes = Buffer.from(text)
  assert.deepEqual([await whole.text(), await whole.json(), await whole.exists(), whole.size, whole.lastModified], [text, { a: 'grün' }, true, bytes.length, MODIFIED.getTime()])
  assert.deepEqual(Buffer.from(await whole.bytes()), Buffer.from(text))
  assert.deepEqual(Buffer.from(await whole.arrayBuffer()), Buffer.from(text))
  assert.equal((await whole.stat()).size, bytes.length)
  const pieces = []
  for await (const piece of whole.stream()) pieces.push(piece)
  assert.equal(Buffer.concat(pieces).toString(), text)
  const positions = [undefined, 0, 1, 4, 2.7, bytes.length, 100, -1, -4, -100]
  for (const begin of positions) {
    for (const end of positions) {
      const [ours, theirs] = [whole.slice(begin, end), bytes.subarray(begin, end)]
      assert.deepEqual(Buffer.from(await ours.bytes()), theirs, `slice(${begin}, ${end})`)
      assert.equal(ours.size, theirs.length, `size of slice(${begin}, ${end})`)
      assert.deepEqual(Buffer.from(await ours.slice(1, -1).bytes()), theirs.subarray(1, -1), `a slice of slice(${begin}, ${end})`)
    }
  }
  assert.deepEqual([whole.slice(1).type, whole.slice(1, 2, 'a/b').type], [whole.type, 'a/b'])
  assert.equal(await new Lean(whole.slice(2, 3)).text(), 'a')
})

test('a file is a Blob: the body of a Response of any class, of a request, and a part of a form of ours', async t => {
  const path = writeAt(join(folder(t), 'data.txt'), TEXT)
  const whole = file(path)
  assert.ok(whole instanceof Blob)
  for (const Made of [globalThis.Response, Lean]) {
    assert.equal(await new Made(whole).text(), TEXT, Made.name)
    assert.equal(await new Made(whole.slice(2, 5)).text(), 'cde', Made.name)
    assert.equal(new Made(whole).headers.get('content-type'), 'text/plain;charset=utf-8', Made.name)
  }
  assert.equal(await new Request('http://localhost/', { method: 'POST', body: whole }).text(), TEXT)
  const form = new FormData()
  form.append('a', whole)
  assert.match(await new Lean(form).text(), /name="a"; filename="data.txt"\r\n[^]*abcdefghij\r\n/)
  const server = serve({ port: 0, hostname: '127.0.0.1', fetch: () => new globalThis.Response(file(path)) })
  t.after(async () => { await server.destroy() })
  const answer = await fetch(server.url)
  assert.deepEqual([answer.headers.get('content-type'), await answer.text()], ['text/plain;charset=utf-8', TEXT])
})

test('a file that is not there has no bytes, and its reading is the error of the system', async t => {
  const where = folder(t)
  const none = file(join(where, 'none'))
  assert.deepEqual([none.size, none.lastModified, await none.exists(), await file(where).exists()], [0, 0, false, false])
  for (const read of ['text', 'json', 'bytes', 'arrayBuffer', 'stat']) await assert.rejects(none[read](), { code: 'ENOENT' }, read)
  await assert.rejects(none.stream().getReader().read(), { code: 'ENOENT' })
  await assert.rejects(file(where).text(), { code: 'EISDIR' })
})

test('a Blob and a FormData of Node.js refuse a file, whose name they would send for its bytes', async () => {
  const source = file(import.meta.filename ?? new URL(import.meta.url).pathname)
  const refused = error => error instanceof TypeError && error.message.includes('use FormData of trunkline, or new Blob([await file.bytes()])')
  const theirs = new globalThis.FormData()
  for (const take of [() => new Blob([source, 'more']), () => theirs.append('a', source), () => theirs.set('a', source, 'name'), () => `${source}`]) assert.throws(take, refused)
  assert.deepEqual([...theirs.keys()], [])
  const part = source.slice(0, 2)
  assert.equal(await new Blob([await part.bytes(), ' more']).text(), '// more')
})

// Results of handlers, by the method and the version of the request.
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let folder
function fileOf (name, text) {
  folder ??= mkdtempSync(join(tmpdir(), 'trunkline-serve-'))
  const path = join(folder, name)
  if (!existsSync(path)) writeFileSync(path, text)
  return path
}

const stream = pieces => new ReadableStream({
  async start (controller) {
    for (const piece of pieces) {
      await new Promise(setImmediate)
      controller.enqueue(new TextEncoder().encode(piece))
    }
    controller.close()
  }
})

/** Handlers by name; `of` is the module that is compared. */
const HANDLERS = {
  text: ({ Response }) => new Response('hello'),
  nothing: ({ Response }) => new Response(),
  'null body': ({ Response }) => new Response(null),
  'empty text': ({ Response }) => new Response(''),
  json: ({ Response }) => Response.json({ a: 1 }),
  'json of a status': ({ Response }) => Response.json([1], { status: 201, headers: { 'x-a': 'b' } }),
  bytes: ({ Response }) => new Response(new Uint8Array([1, 2, 3])),
  'an ArrayBuffer': ({ Response }) => new Response(new ArrayBuffer(3)),
  'a Blob': ({ Response }) => new Response(new Blob(['blob'], { type: 'text/html' })),
  'a Blob without a type': ({ Response }) => new Response(new Blob(['blob'])),
  'URLSearchParams': ({ Response }) => new Response(new URLSearchParams({ a: 'b c' })),
  'a stream': ({ Response }) => new Response(stream(['one', 'two'])),
  'an empty stream': ({ Response }) => new Response(stream([])),
  'a stream with a length': ({ Response }) => new Response(stream(['one', 'two']), { headers: { 'content-length': '6' } }),
  'an async generator': ({ Response }) => new Response((async function * () { yield 'one'; yield 'two' })()),
  'a file': ({ Response, file }) => new Response(file(fileOf('a.txt', 'a file'))),
  'an empty file': ({ Response, file }) => new Response(file(fileOf('b.json', ''))),
  'a part of a file': ({ Response, file }) => new Response(file(fileOf('a.txt', 'a file')).slice(2, 4)),
  'a file of a status': ({ Response, file }) => new Response(file(fileOf('a.txt', 'a file')), { status: 404 }),
  'a file that is missing': ({ Response, file }) => new Response(file('/nonexistent/a.txt')),
  'status 201': ({ Response }) => new Response('made', { status: 201 }),
  'status 204': ({ Response }) => new Response(null, { status: 204 }),
  'status 205': ({ Response }) => new Response(null, { status: 205 }),
  'status 304': ({ Response }) => new Response(null, { status: 304, headers: { etag: '"a"' } }),
  'status 418': ({ Response }) => new Response('teapot', { status: 418 }),
  'status 599': ({ Response }) => new Response('far', { status: 599 }),
  'a reason': ({ Response }) => new Response('x', { status: 200, statusText: 'Fine' }),
  redirect: ({ Response }) => Response.redirect('http://localhost/there'),
  'redirect by 308': ({ Response }) => Response.redirect('http://localhost/there', 308),
  'own fields': ({ Response }) => new Response('x', { headers: { 'X-Own': 'Value', 'content-type': 'text/x' } }),
  'cookies': ({ Response }) => new Response('x', { headers: [['set-cookie', 'a=1'], ['set-cookie', 'b=2; HttpOnly']] }),
  'a field twice': ({ Response }) => new Response('x', { headers: [['x-a', '1'], ['x-a', '2']] }),
  'a length of its own': ({ Response }) => new Response('hello', { headers: { 'content-length': '5' } }),
  'a length that is too long': ({ Response }) => new Response('hello', { headers: { 'content-length': '50' } }),
  'a length that is too short': ({ Response }) => new Response(new Uint8Array(5), { headers: { 'content-length': '1', 'content-type': 'a/b' } }),
  'a length that is none': ({ Response }) => new Response('hello', { headers: { 'content-length': 'none' } }),
  'a length of nothing': ({ Response }) => new Response(null, { headers: { 'content-length': '50' } }),
  'a date of its own': ({ Response }) => new Response('x', { headers: { date: 'Mon, 01 Jan 2024 00:00:00 GMT' } }),
  'a field of the connection': ({ Response }) => new Response('x', { headers: { 'keep-alive': 'timeout=1', 'transfer-encoding': 'gzip' } }),
  'an encoding of its own': ({ Response }) => new Response('x', { headers: { 'content-encoding': 'identity' } }),
  'a value beyond Latin-1': ({ Response }) => new Response('x', { headers: { 'x-a': 'é' } }),
  'text beyond ASCII': ({ Response }) => new Response('grün €'),
  'a long text': ({ Response }) => new Response('x'.repeat(100_000)),
  'a clone': ({ Response }) => new Response('cloned').clone(),
  'a promise': async ({ Response }) => new Response('later'),
  'a late promise': async ({ Response }) => {
    await new Promise(resolve => { setTimeout(resolve, 5) })
    return new Response('later')
  },
  'a Response of the platform': () => new globalThis.Response('platform'),
  'Response.error()': ({ Response }) => Response.error(),
  'a used Response': async ({ Response }) => {
    const used = new Response('used')
    await used.text()
    return used
  },
  undefined: () => undefined,
  null: () => null,
  'a string': () => 'text',
  'a number': () => 5,
  'an object': () => ({}),
  'a failure': () => { throw new Error('fails') },
  'a rejection': async () => { throw new Error('fails') },
  'a stream that fails at once': ({ Response }) => new Response(new ReadableStream({ start (controller) { controller.error(new Error('fails')) } }))
}

const METHODS = { GET: '', HEAD: '', POST: 'abc', PUT: 'abc', DELETE: '', OPTIONS: '', PATCH: '' }

const programs = {}
for (const [name, handler] of Object.entries(HANDLERS)) {
  for (const [method, body] of Object.entries(METHODS)) {
    for (const version of ['1.1', '1.0']) {
      if (version === '1.0' && !['GET', 'HEAD', 'POST'].includes(method)) continue
      programs[`${name}, ${method}, HTTP/${version}`] = async (module, stage) => {
        const server = stage.serve(module, { fetch: () => handler(module) })
        await stage.ask(server, { method, version, body })
      }
    }
  }
}
export default programs

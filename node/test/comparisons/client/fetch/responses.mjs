// Responses of `fetch`: each reader of a body by status, coding and the way in which the server ends it.
import zlib from 'node:zlib'

const TEXT = '{"a": "text", "b": [1, 2, 3]}'
const FORM = 'a=b+c&d=%C3%A9'
const MULTIPART = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--x\r\ncontent-disposition: form-data; name="f"; filename="g.txt"\r\ncontent-type: text/plain\r\n\r\nof a file\r\n--x--\r\n'
const gzip = text => zlib.gzipSync(text)

async function streamed (response) {
  let text = ''
  for await (const piece of response.body) text += Buffer.from(piece).toString('latin1')
  return text
}
const READERS = {
  text: response => response.text(),
  json: async response => JSON.stringify(await response.json()),
  arrayBuffer: async response => Buffer.from(await response.arrayBuffer()).toString('latin1'),
  bytes: async response => response.bytes === undefined ? 'none' : Buffer.from(await response.bytes()).toString('latin1'),
  blob: async response => { const blob = await response.blob(); return `${blob.type} ${blob.size} ${await blob.text()}` },
  formData: async response => [...await response.formData()].map(([name, value]) => `${name}: ${typeof value === 'string' ? value : `${value.name} ${value.type} ${value.size}`}`).join('; '),
  stream: streamed,
  'its clone': async response => { const clone = response.clone(); return `${await response.text()} ${await clone.text()}` },
  'twice': async response => { await response.text(); return await response.text() },
  'after its stream': async response => { response.body.getReader(); return await response.text() },
  'cancelled': async response => { await response.body?.cancel(); return `${response.bodyUsed}` }
}
/** Answers of the server: status, fields, bytes. */
const ANSWERS = {
  'in JSON': [200, { 'content-type': 'application/json' }, TEXT],
  'with a BOM': [200, { 'content-type': 'text/plain' }, '\ufeff' + TEXT],
  'that is empty': [200, {}, ''],
  'of a form': [200, { 'content-type': 'application/x-www-form-urlencoded' }, FORM],
  'of parts': [200, { 'content-type': 'multipart/form-data; boundary=x' }, MULTIPART],
  'of parts, broken': [200, { 'content-type': 'multipart/form-data; boundary=x' }, MULTIPART.slice(0, -9)],
  'in gzip': [200, { 'content-encoding': 'gzip' }, gzip(TEXT)],
  'in GZIP, x-gzip': [200, { 'content-encoding': 'GZIP, x-gzip' }, gzip(gzip(TEXT))],
  'in deflate': [200, { 'content-encoding': 'deflate' }, zlib.deflateSync(TEXT)],
  'in raw deflate': [200, { 'content-encoding': 'deflate' }, zlib.deflateRawSync(TEXT)],
  'in br': [200, { 'content-encoding': 'br' }, zlib.brotliCompressSync(TEXT)],
  'in a coding that is unknown': [200, { 'content-encoding': 'own' }, TEXT],
  'in gzip, cut': [200, { 'content-encoding': 'gzip' }, gzip(TEXT).subarray(0, 20)],
  'in no gzip': [200, { 'content-encoding': 'gzip' }, TEXT],
  'in gzip that is empty': [200, { 'content-encoding': 'gzip' }, ''],
  'of 201': [201, { 'content-type': 'text/plain;charset=utf-8' }, TEXT],
  'of 204': [204, {}, ''],
  'of 205': [205, {}, ''],
  'of 304': [304, {}, ''],
  'of 404': [404, {}, TEXT],
  'of 503': [503, { 'retry-after': '1' }, TEXT],
  'of 299': [299, {}, TEXT]
}

async function run (module, stage, isH2, [status, fields, bytes], read, method) {
  const log = stage.log('fetch')
  const answer = (request, response) => {
    request.resume()
    response.writeHead(status, fields)
    response.end(bytes)
  }
  const served = await (isH2 ? stage.serveH2(answer) : stage.serve(answer))
  const dispatcher = stage.own(new module.Agent({ connect: { rejectUnauthorized: false }, allowH2: isH2 }))
  try {
    const response = await module.fetch(served.url, { method, dispatcher })
    log(response.status, response.ok, response.statusText, response.type, response.redirected, response.body === null ? 'no body' : 'a body', ...Object.keys(fields).map(name => response.headers.get(name)))
    try {
      log('body', await read(response), response.bodyUsed)
    } catch (error) { log('body failed', error.name, error.message, error.cause?.code) }
  } catch (error) { log('failed', error.name, error.message, error.cause?.code) }
}

const programs = {}
for (const isH2 of [false, true]) {
  for (const [label, answer] of Object.entries(ANSWERS)) {
    for (const [reader, read] of Object.entries(READERS)) {
      programs[`${isH2 ? 'h2' : 'h1'}, a response ${label}, ${reader}`] = (module, stage) => run(module, stage, isH2, answer, read, 'GET')
    }
    programs[`${isH2 ? 'h2' : 'h1'}, a response ${label}, to HEAD`] = (module, stage) => run(module, stage, isH2, answer, READERS.text, 'HEAD')
  }
}

/** Bytes that a connection sends before its end. */
const CUTS = {
  'before the head': '',
  'in the head': 'HTTP/1.1 200 OK\r\ncontent-',
  'behind the head': 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n',
  'in the body': 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello',
  'in a chunk': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel',
  'in gzip': 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 100\r\n\r\n\x1f\x8b\x08',
  'in a body without a length': 'HTTP/1.1 200 OK\r\n\r\nhello',
  'with no HTTP': 'no HTTP\r\n\r\n',
  'with a bad status': 'HTTP/1.1 1000 OK\r\n\r\n',
  'with a bad field': 'HTTP/1.1 200 OK\r\na\0b: c\r\n\r\n'
}
for (const [cut, bytes] of Object.entries(CUTS)) {
  for (const end of ['end', 'destroy', 'resetAndDestroy']) {
    for (const reader of ['text', 'stream', 'blob', 'its clone']) {
      programs[`cut ${cut} by ${end}, ${reader}`] = async (module, stage) => {
        const log = stage.log('fetch')
        const served = await stage.serveRaw(socket => { socket.once('data', () => { socket.write(bytes, 'latin1', () => { setImmediate(() => { socket[end]() }) }) }) })
        const dispatcher = stage.own(new module.Agent())
        try {
          const response = await module.fetch(served.url, { dispatcher, method: 'POST', body: 'once' })
          log(response.status)
          try { log('body', await READERS[reader](response)) } catch (error) { log('body failed', error.name, error.message, error.cause?.name) }
        } catch (error) { log('failed', error.name, error.message, error.cause?.name) }
      }
    }
  }
}
export default programs

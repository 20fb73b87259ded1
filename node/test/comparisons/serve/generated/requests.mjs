// Requests as handlers see them, by the request and by the way of reading it.
const multipart = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--b\r\ncontent-disposition: form-data; name="f"; filename="f.txt"\r\ncontent-type: text/x\r\n\r\nfile\r\n--b--\r\n'

const REQUESTS = {
  plain: {},
  query: { target: '/path?a=b&c=%20d' },
  'a fragment': { target: '/path#part' },
  dots: { target: '/a/./b/../c' },
  'two slashes': { target: '//a//b' },
  'an escape that is none': { target: '/%zz' },
  'escaped letters': { target: '/%41%2f' },
  'spaces of another kind': { target: '/a|b"c' },
  'bytes above 127': { target: '/\xc3\xbc' },
  'absolute form': { target: 'http://other:81/path' },
  'HTTP/1.0': { version: '1.0' },
  'HTTP/1.0 without a host': { version: '1.0', fields: [['host', null]] },
  'a host with a port': { fields: [['host', 'example.com:8080']] },
  'a host in capitals': { fields: [['Host', 'EXAMPLE.com']] },
  'the default port': { fields: [['host', 'example.com:80']] },
  'fields twice': { fields: [['x-a', '1'], ['X-A', '2'], ['cookie', 'a=1'], ['accept', 'text/html']] },
  'an empty field': { fields: [['x-a', '']] },
  'a field of Latin-1': { fields: [['x-a', '\xe9']] },
  'a body': { method: 'POST', body: 'hello' },
  'an empty body': { method: 'POST', fields: [['content-length', '0']] },
  'a body of a GET': { body: 'hello' },
  'a body in chunks': { method: 'POST', fields: [['transfer-encoding', 'chunked']], body: '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n' },
  'a body in chunks with trailers': { method: 'POST', fields: [['transfer-encoding', 'chunked']], body: '3\r\nabc\r\n0\r\nx-t: 1\r\n\r\n' },
  json: { method: 'POST', fields: [['content-type', 'application/json']], body: '{"a": [1]}' },
  'json that is none': { method: 'POST', fields: [['content-type', 'application/json']], body: '{"a"' },
  'a form': { method: 'POST', fields: [['content-type', 'application/x-www-form-urlencoded']], body: 'a=1&b=x+y&a=2' },
  'a form in parts': { method: 'POST', fields: [['content-type', 'multipart/form-data; boundary=b']], body: multipart },
  'a form in parts without an end': { method: 'POST', fields: [['content-type', 'multipart/form-data; boundary=b']], body: multipart.slice(0, -8) },
  'a type in capitals': { method: 'POST', fields: [['content-type', 'Text/Plain; Charset=UTF-8']], body: 'x' },
  'a body of bytes that are no UTF-8': { method: 'POST', body: '\xff\xfe' },
  'a mark in front of the text': { method: 'POST', body: '\xef\xbb\xbfmarked' },
  'another method': { method: 'PROPFIND' },
  'an options request of all': { method: 'OPTIONS', target: '*' }
}

const hidden = new Set(['connection', 'content-length'])
const entries = form => JSON.stringify([...form].map(([name, value]) => [name, typeof value === 'string' ? value : [value.name, value.type, value.size]]))
const settled = async call => {
  try {
    return await call()
  } catch (error) {
    return `rejected: ${error.name}`
  }
}
const READS = {
  head: request => `${request.method} ${request.url} ${JSON.stringify([...request.headers].filter(([name]) => !hidden.has(name)))}`,
  text: request => settled(() => request.text()),
  json: request => settled(async () => JSON.stringify(await request.json())),
  arrayBuffer: request => settled(async () => Buffer.from(await request.arrayBuffer()).toString('hex')),
  bytes: request => settled(async () => Buffer.from(await request.bytes()).toString('hex')),
  blob: request => settled(async () => {
    const blob = await request.blob()
    return `${blob.size} ${blob.type} ${await blob.text()}`
  }),
  formData: request => settled(async () => entries(await request.formData())),
  body: request => settled(async () => {
    if (request.body === null) return 'none'
    let all = ''
    for await (const piece of request.body) all += Buffer.from(piece).toString('hex')
    return all
  }),
  twice: request => settled(async () => {
    await request.text()
    return `${request.bodyUsed} ${await settled(() => request.text())}`
  }),
  clone: request => settled(async () => {
    const copy = request.clone()
    return `${await copy.text()} ${request.bodyUsed} ${copy.bodyUsed} ${await request.text()}`
  }),
  copy: request => settled(async () => {
    const copy = new Request(request, { headers: { 'x-b': '1' } })
    return `${copy.method} ${copy.url} ${copy.headers.get('x-b')} ${await copy.text()} ${request.bodyUsed}`
  }),
  nothing: () => 'read nothing'
}

const programs = {}
for (const [name, request] of Object.entries(REQUESTS)) {
  for (const [what, read] of Object.entries(READS)) {
    programs[`${name}, ${what}`] = async (module, stage) => {
      const log = stage.log('server')
      const server = stage.serve(module, {
        async fetch (request) {
          log(await read(request))
          return new module.Response('read')
        }
      })
      await stage.ask(server, request)
    }
  }
}
export default programs

// Fetch, Headers, FormData, Request, Cookies, ContentType, GlobalInstallation and Util.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { bytesOf } from '../stage.mjs'
import { after, fieldsOf, hello, known, named, onVersions, programs, VERSIONS } from '../page.mjs'

const withoutBoundary = text => text.replace(/-{2,}[\w-]*formdata-[\w-]+|boundary=[\w-]+/gi, 'BOUNDARY')

export default {
  ...onVersions(VERSIONS, {
    'what a response has': async (p, { fetch }) => {
      const server = await p.serve((request, response) => { response.writeHead(201, { 'x-a': 'b', 'content-type': 'text/plain' }).end('hello') })
      const response = await fetch(`${server.url}/a?b#c`, { dispatcher: p.agent() })
      p.log(response.status, response.ok, response.type, response.redirected, new URL(response.url).pathname + new URL(response.url).search + new URL(response.url).hash, response.body.constructor.name, response.bodyUsed, fieldsOf(Object.fromEntries(response.headers)), Object.prototype.toString.call(response))
      const copy = response.clone()
      p.log(await response.text(), await copy.text(), response.bodyUsed)
      await p.settle('again', response.text())
    },
    'fields that are sent': async (p, { fetch }) => {
      const server = await p.serve((request, response) => { request.resume(); response.end(JSON.stringify(Object.entries(request.headers).filter(([name]) => !name.startsWith(':') && !['host', 'connection', 'cookie'].includes(name)).sort())) })
      const dispatcher = p.agent()
      for (const options of [{}, { method: 'POST', body: 'text' }, { method: 'POST', body: new URLSearchParams({ a: 'b' }) }, { method: 'POST', body: new Blob(['x'], { type: 'text/x' }) }, { method: 'POST' }, { method: 'PUT', body: new Uint8Array(3) }, { headers: { 'User-Agent': 'own', Accept: 'a/b' } }, { method: 'DELETE' }, { mode: 'cors', credentials: 'include', cache: 'no-store', referrer: 'http://localhost/', keepalive: true }]) await p.settle(`${options.method} ${options.body?.constructor.name}`, fetch(server.url, { ...options, dispatcher }).then(response => response.text()))
    },
    'aborts at each moment': async (p, { fetch }) => {
      const server = await p.serve((request, response) => { if (request.url === '/body') response.write('begin') })
      const dispatcher = p.agent()
      await p.settle('before', fetch(server.url, { dispatcher, signal: AbortSignal.abort() }))
      await p.settle('with a reason', fetch(server.url, { dispatcher, signal: AbortSignal.abort('own') }))
      await p.settle('timeout', fetch(server.url, { dispatcher, signal: AbortSignal.timeout(50) }))
      const controller = new AbortController()
      const response = await fetch(`${server.url}/body`, { dispatcher, signal: controller.signal })
      const reader = response.body.getReader()
      p.log(Buffer.from((await reader.read()).value).toString())
      const reading = p.settle('read', reader.read())
      controller.abort(new Error('own'))
      await reading
      await p.settle('any', fetch(server.url, { dispatcher, signal: AbortSignal.any([AbortSignal.timeout(20), new AbortController().signal]) }))
    },
    'redirects': async (p, { fetch }) => {
      const server = await p.serve((request, response) => {
        request.resume().on('end', () => {
          const [, status, at] = request.url.split('/')
          if (status === 'end') return response.end(`${request.method} ${request.headers['content-type'] ?? '-'} ${request.headers.authorization ?? '-'}`)
          response.writeHead(Number(status), { location: at === '0' ? '/end#new' : `/${status}/${Number(at) - 1}` }).end()
        })
      })
      const dispatcher = p.agent()
      for (const status of [301, 302, 303, 307, 308]) {
        for (const method of ['GET', 'POST']) await p.settle(`${status} ${method}`, fetch(`${server.url}/${status}/0`, { dispatcher, method, headers: { authorization: 'a' }, ...method === 'POST' ? { body: 'x' } : {} }).then(async response => [response.redirected, new URL(response.url).pathname, new URL(response.url).hash, await response.text()]), value => value)
      }
      await p.settle('21', fetch(`${server.url}/302/20`, { dispatcher }))
      await p.settle('20', fetch(`${server.url}/302/18`, { dispatcher }).then(response => response.status))
      await p.settle('manual', fetch(`${server.url}/302/0`, { dispatcher, redirect: 'manual' }).then(response => [response.status, response.type, response.headers.get('location')]), value => value)
      await p.settle('error', fetch(`${server.url}/302/0`, { dispatcher, redirect: 'error' }))
    },
    'integrity': async (p, { fetch }) => {
      const server = await p.serve(hello)
      const dispatcher = p.agent()
      for (const integrity of [`sha256-${createHash('sha256').update('hello').digest('base64')}`, `sha512-${createHash('sha512').update('hello').digest('base64')}`, 'sha256-AAAA', 'md5-AAAA', 'x', `sha256-AAAA sha384-${createHash('sha384').update('hello').digest('base64')}`]) await p.settle(integrity.slice(0, 11), fetch(server.url, { dispatcher, integrity }).then(response => response.text()))
    },
    'streams both ways': async (p, { fetch }) => {
      const server = await p.serve((request, response) => { request.pipe(response) })
      const dispatcher = p.agent()
      const encoder = new TextEncoder()
      const body = () => new ReadableStream({ async start (controller) { for (const piece of ['a', 'b', 'c']) { controller.enqueue(encoder.encode(piece)); await after(1) } controller.close() } })
      await p.settle('half', fetch(server.url, { dispatcher, method: 'POST', body: body(), duplex: 'half' }).then(response => response.text()))
      await p.settle('no duplex', fetch(server.url, { dispatcher, method: 'POST', body: body() }).then(response => response.text()))
      const failing = new ReadableStream({ pull () { throw new Error('source') } })
      await p.settle('failing', fetch(server.url, { dispatcher, method: 'POST', body: failing, duplex: 'half' }).then(response => response.text()))
    },
    'a body is read as each kind': async (p, { fetch }) => {
      const server = await p.serve((request, response) => { response.writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' }).end('a=b&c=d') })
      const dispatcher = p.agent()
      for (const call of ['text', 'json', 'blob', 'arrayBuffer', 'bytes', 'formData']) await p.settle(call, fetch(server.url, { dispatcher }).then(response => response[call]()), value => [value instanceof Blob ? [value.size, value.type] : value instanceof ArrayBuffer || value instanceof Uint8Array ? value.byteLength : typeof value === 'object' ? JSON.stringify([...value]) : value])
    },
    'FormData: both ways': async (p, { fetch, FormData }) => {
      const server = await p.serve(async (request, response) => { const bytes = await bytesOf(request); response.writeHead(200, { 'content-type': request.headers['content-type'] }).end(bytes) })
      const form = new FormData()
      form.append('a', 'b')
      form.append('a', 'ä"\r\n')
      form.append('f', new Blob(['x'], { type: 'text/x' }), 'name.txt')
      form.append('g', new File(['y'], 'file.txt'))
      const response = await fetch(server.url, { dispatcher: p.agent(), method: 'POST', body: form })
      p.log(withoutBoundary(response.headers.get('content-type')))
      const back = await response.formData()
      for (const [name, value] of back) p.log(name, typeof value === 'string' ? JSON.stringify(value) : [value.constructor.name, value.name, value.type, await value.text()])
    },
    'content codings': async (p, { fetch }) => {
      const server = await p.serve((request, response) => { response.writeHead(200, { 'content-encoding': request.url === '/broken' ? 'gzip' : request.url.slice(1) }).end(request.url === '/gzip' ? gzipSync('hello') : 'none') })
      const dispatcher = p.agent()
      for (const path of ['/gzip', '/broken', '/unknown', '/identity']) await p.settle(path, fetch(server.url + path, { dispatcher }).then(async response => [response.headers.get('content-encoding'), await response.text()]), value => value)
    },
    'an answer that breaks': async (p, { fetch }) => {
      const server = await p.serve((request, response) => { const end = () => { (request.stream?.session ?? request.socket).destroy() }; if (request.url === '/head') end(); else response.write('begin', () => { setTimeout(end, 10) }) })
      const dispatcher = p.agent()
      await fetch(`${server.url}/head`, { dispatcher }).catch(error => { p.log(error.name, error.message, error.cause?.name, error.cause?.code, error.cause?.message) })
      await fetch(`${server.url}/body`, { dispatcher }).then(response => response.text()).catch(error => { p.log(error.name, error.message, error.cause?.name, error.cause?.code, error.cause?.message) })
    },
    'cancel of a body': async (p, { fetch }) => {
      const server = await p.serve((request, response) => { response.on('close', () => { p.stage.log('server')('closed', response.writableFinished) }).write('begin') })
      const closed = new Promise(resolve => { server.server.once('request', (request, response) => { response.on('close', resolve) }) })
      const response = await fetch(server.url, { dispatcher: p.agent() })
      await p.settle('cancel', response.body.cancel('enough'))
      await closed
      p.log(response.bodyUsed)
    },
    'HEAD, 204, 304 and 205': async (p, { fetch }) => {
      const server = await p.serve((request, response) => { response.writeHead(Number(request.url.slice(1)) || 200, { 'x-a': 'b' }).end() })
      const dispatcher = p.agent()
      for (const [method, status] of [['HEAD', 200], ['GET', 204], ['GET', 304], ['GET', 205]]) await p.settle(`${method} ${status}`, fetch(`${server.url}/${status}`, { method, dispatcher }).then(async response => [response.status, response.body === null, await response.text()]), value => value)
    },
    'a dispatcher that is closed': async (p, { fetch }) => {
      const server = await p.serve(hello)
      const agent = p.agent()
      await agent.close()
      await p.settle('closed', fetch(server.url, { dispatcher: agent }))
    },
    'through an interceptor': async (p, { fetch, interceptors }) => {
      let asked = 0
      const server = await p.serve((request, response) => { response.writeHead(++asked < 3 ? 503 : 200).end(`answer ${asked}`) })
      const dispatcher = p.agent().compose(interceptors.retry({ minTimeout: 1, maxTimeout: 2 }))
      p.log(await fetch(server.url, { dispatcher }).then(response => response.text()))
    }
  }),
  ...programs({
    'arguments that are refused': async (p, { fetch }) => {
      p.words = named
      for (const args of [[], ['x'], [''], ['http://'], ['http://user:pass@localhost'], ['ftp://localhost'], ['http://localhost:1', { method: 'TRACE' }], ['http://localhost:1', { method: 'A B' }], ['http://localhost:1', { body: 'x' }], ['http://localhost:1', { method: 'HEAD', body: 'x' }], ['http://localhost:1', { redirect: 'x' }], ['http://localhost:1', { signal: {} }], ['http://localhost:1', { headers: { 'a b': 'c' } }], ['http://localhost:1', { headers: [['a']] }], ['http://localhost:1', { window: 5 }], ['http://localhost:1', { mode: 'navigate' }], ['http://localhost:1', { cache: 'only-if-cached' }], ['about:blank'], ['http://localhost:1', { duplex: 'full' }], ['http://localhost:6000']]) await p.settle(JSON.stringify(args), fetch(...args))
    },
    'data and blob URLs': async (p, { fetch }) => {
      p.words = named
      for (const url of ['data:,hello', 'data:text/plain;base64,aGVsbG8=', 'data:text/html;charset=x,%3Ca%3E', 'data:x', URL.createObjectURL(new Blob(['blob'], { type: 'text/b' })), 'blob:nodedata:none']) await p.settle(url.slice(0, 13), fetch(url).then(async response => [response.status, response.headers.get('content-type'), await response.text()]), value => value)
    },
    'Headers': async (p, { Headers }) => {
      p.words = named
      const headers = new Headers([['B', '2'], ['a', ' 1 '], ['set-cookie', 'a=b'], ['Set-Cookie', 'c=d'], ['b', '3']])
      p.log(JSON.stringify([...headers]), headers.get('B'), headers.getSetCookie(), headers.has('c'), headers.get('c'), JSON.stringify([...headers.keys()]))
      headers.delete('b')
      headers.set('x', '')
      headers.forEach((value, name) => { p.log(name, value) })
      for (const init of [5, null, 'x', [['a']], { 'a b': 'c' }, { a: '\n' }, { a: 'b\nc' }, [['a', 'b', 'c']], new Map([['a', 'b']]), { a: '\u0100' }]) p.attempt(String(JSON.stringify(init)), () => new Headers(init), value => [JSON.stringify([...value])])
      for (const call of ['append', 'set', 'get', 'has', 'delete']) p.attempt(call, () => headers[call]())
    },
    'Headers: printed': async (p, { Headers }) => {
      const { inspect } = await import('node:util')
      p.log(inspect(new Headers({ a: 'b', 'X-C': 'd' })), Object.prototype.toString.call(new Headers()))
    },
    'FormData': async (p, { FormData }) => {
      p.words = named
      const form = new FormData()
      form.append('a', 'b')
      form.append('a', 'c')
      form.set('d', new Blob(['x']))
      form.set('e', new Blob(['x']), 'own.txt')
      p.log(form.get('a'), form.getAll('a'), form.has('z'), form.get('d').name, form.get('d').constructor.name, form.get('e').name, JSON.stringify([...form.keys()]))
      form.delete('a')
      p.log([...form].length)
      for (const args of [[], ['a'], ['a', 'b', 'c'], ['a', {}, 'c'], ['a', 5], ['a', null]]) p.attempt(JSON.stringify(args), () => form.append(...args), () => ['ok'])
      p.attempt('of a form', () => new FormData({}))
    },
    'Request': async (p, { Request }) => {
      p.words = named
      const request = new Request('http://localhost/a', { method: 'post', headers: { a: 'b' }, body: 'x', keepalive: true })
      p.log(request.method, request.url, request.headers.get('content-type'), request.mode, request.credentials, request.cache, request.redirect, request.referrer, request.integrity, request.keepalive, request.duplex, request.destination, request.signal.aborted, request.isReloadNavigation)
      const copy = new Request(request, { method: 'PUT' })
      p.log(copy.method, request.bodyUsed, await copy.text())
      for (const args of [[], ['x'], ['http://localhost', { method: 'CONNECT' }], ['http://localhost', { body: 'x' }], ['http://localhost', { referrer: '::' }], ['http://a:b@localhost']]) p.attempt(JSON.stringify(args), () => new Request(...args))
    },
    'Request: a signal is followed': async (p, { Request, fetch }) => {
      const server = await p.serve(() => {})
      const controller = new AbortController()
      const request = new Request(server.url, { signal: controller.signal, dispatcher: p.agent() })
      p.log(request.signal === controller.signal)
      const call = p.settle('fetch', fetch(request, { dispatcher: p.agent() }))
      await server.asked()
      controller.abort()
      await call
      p.log(request.signal.aborted)
    },
    'cookies': async (p, { Headers, getCookies, setCookie, getSetCookies, deleteCookie, parseCookie }) => {
      const headers = new Headers()
      for (const cookie of [{ name: 'a', value: 'b' }, { name: 'c', value: 'd', path: '/p', domain: 'test', maxAge: 5, httpOnly: true, secure: true, sameSite: 'Strict', expires: new Date(0), unparsed: ['X=y'] }]) setCookie(headers, cookie)
      p.log(headers.getSetCookie(), JSON.stringify(getSetCookies(headers)))
      deleteCookie(headers, 'a', { path: '/', domain: 'test' })
      p.log(headers.getSetCookie().at(-1))
      for (const cookie of [{ name: 'a b', value: 'c' }, { name: 'a', value: 'b;c' }, { name: 'a', value: 'b', path: ';' }, { name: '__Secure-a', value: 'b' }, { name: '__Host-a', value: 'b' }, { name: 'a', value: 'b', maxAge: 'x' }, { name: 'a', value: 'b', sameSite: 'x' }, { value: 'b' }]) { const own = new Headers(); p.attempt(JSON.stringify(cookie), () => setCookie(own, cookie), () => own.getSetCookie()) }
      for (const text of ['a=b; Path=/; Max-Age=5; SameSite=Lax; Secure; HttpOnly; Domain=.test; X=y', 'a', '=b', '', 'a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'a=b; max-age=x']) p.log(JSON.stringify(parseCookie(text)))
      p.log(JSON.stringify(getCookies(new Headers({ cookie: 'a=b; c=d=e; f; g="h"' }))), JSON.stringify(getCookies(new Headers())))
      for (const wrong of [{}, null, 5]) p.attempt('none', () => getCookies(wrong))
      for (const wrong of [{}, null, 5]) p.attempt('none', () => setCookie(wrong, { name: 'a', value: 'b' }))
    },
    'cookies over Headers of Node.js': async (p, { getCookies, setCookie }) => {
      const headers = new globalThis.Headers({ cookie: 'a=b' })
      p.attempt('get', () => getCookies(headers), value => [JSON.stringify(value)])
      p.attempt('set', () => setCookie(headers, { name: 'a', value: 'b' }), () => headers.getSetCookie())
    },
    'content types': async (p, { parseMIMEType, serializeAMimeType }) => {
      for (const text of ['text/html; charset=utf-8', 'TEXT/HTML', 'x', '', 'a/b;c="d e";f', 'a/b;c=d;c=e', 'multipart/form-data; boundary=x']) { const type = parseMIMEType(text); p.log(text, type === 'failure' ? type : [type.type, type.subtype, type.essence, JSON.stringify([...type.parameters]), serializeAMimeType(type)]) }
    },
    'util': async (p, { util }) => {
      p.log(JSON.stringify(util.parseHeaders([Buffer.from('A'), Buffer.from('1'), 'b', '2', 'A', '3', 'set-cookie', ['x', 'y']])), JSON.stringify(util.parseHeaders(['a', 'b'], { c: 'd' })), util.headerNameToString('Content-Type'), util.headerNameToString(Buffer.from('X-Y')))
      p.attempt('none', () => util.parseHeaders(), value => [value])
    },
    'setGlobalOrigin': async (p, { setGlobalOrigin, getGlobalOrigin, fetch, Request }) => {
      const server = await p.serve((request, response) => { response.end(request.url) })
      p.log(getGlobalOrigin())
      setGlobalOrigin(server.url)
      try {
        p.log(String(getGlobalOrigin()) === `${server.url}/`)
        await p.settle('fetch', fetch('/a', { dispatcher: p.agent() }).then(response => response.text()))
        p.attempt('Request', () => new Request('/b').url === `${server.url}/b`, value => [value])
        for (const wrong of ['x', 5, null, 'ftp://localhost']) p.attempt(String(wrong), () => setGlobalOrigin(wrong), () => ['ok'])
      } finally {
        setGlobalOrigin(undefined)
      }
      p.log(getGlobalOrigin())
    },
    'errors of fetch have a cause': async (p, { fetch }) => {
      for (const url of ['http://localhost:1', 'http://name.invalid', 'https://localhost:1']) await fetch(url, { dispatcher: p.agent() }).catch(error => { p.log(known(error), error.constructor === TypeError, error.cause?.syscall, error.cause?.hostname) })
    },
    'a body that is used': async (p, { fetch, Request }) => {
      const server = await p.serve((request, response) => { request.pipe(response) })
      const request = new Request(server.url, { method: 'POST', body: 'x' })
      await request.text()
      await p.settle('used', fetch(request, { dispatcher: p.agent() }))
      const stream = new ReadableStream({ start (controller) { controller.close() } })
      stream.getReader()
      await p.settle('locked', fetch(server.url, { method: 'POST', body: stream, duplex: 'half', dispatcher: p.agent() }))
      p.attempt('a locked one', () => new Request(server.url, { method: 'POST', body: stream, duplex: 'half' }))
    },
    'a thousand small ones': async (p, { fetch }) => {
      const server = await p.serve((request, response) => { response.end(request.url) })
      const dispatcher = p.agent({ connections: 10 })
      const texts = await Promise.all(Array.from({ length: 1000 }, (_, at) => fetch(`${server.url}/${at}`, { dispatcher }).then(response => response.text())))
      p.log(texts.every((text, at) => text === `/${at}`))
    }
  })
}

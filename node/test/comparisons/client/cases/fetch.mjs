// fetch and its classes as programs print, check and break them.
import { inspect } from 'node:util'
import { Readable } from 'node:stream'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { performance, PerformanceObserver } from 'node:perf_hooks'
import { onVersions, portless, programs, VERSIONS } from '../page.mjs'

const thrown = error => `${error.name} ${error.cause === undefined ? '' : `${error.cause.name} ${error.cause.code ?? ''}`}`
const outcome = call => { try { return inspect(call(), { depth: 1 }) } catch (error) { return `threw ${error.name}` } }
/** Members that one of the two alone has, and `constructor`, which of a request of `serve` is another. */
const EXTENSIONS = new Set(['constructor', 'attribute', 'cookies', 'params', 'toJSON', 'trailers'])
const CLASSES = ['Headers', 'Request', 'Response', 'FormData']
const bodies = {
  gzip: gzipSync('some text'), br: brotliCompressSync('some text'), deflate: deflateSync('some text'), 'deflate raw': deflateRawSync('some text'),
  'gzip cut': gzipSync('some text that is long enough to be cut').subarray(0, 20), 'gzip with more behind it': Buffer.concat([gzipSync('some text'), Buffer.from('trailing')]), 'no gzip': Buffer.from('not compressed')
}

export default {
  ...programs({
    'printed: Headers': p => {
      const { Headers } = p.module
      const headers = new Headers([['Content-Type', 'application/json'], ['x-a', 'b'], ['X-A', 'c'], ['set-cookie', 'a=b'], ['set-cookie', 'c=d']])
      for (const options of [{}, { depth: 0 }, { depth: 1 }, { compact: false }, { showHidden: false, breakLength: 20 }]) p.log(inspect(headers, options))
      p.log(inspect({ a: { headers } }), inspect(new Headers()), inspect([headers], { depth: 0 }), `${headers}`)
    },
    'printed: Request': p => {
      const { Request } = p.module
      for (const init of [{}, { method: 'POST', body: 'x' }, { headers: { a: 'b' }, redirect: 'error', keepalive: true }]) p.log(inspect(new Request('http://localhost/a?b#c', init)).replace(/AbortSignal \{.*?\}/s, 'SIGNAL'))
      p.log(inspect({ a: { b: { c: new Request('http://localhost') } } }))
    },
    'printed: Response': p => {
      const { Response } = p.module
      for (const response of [new Response(), new Response('x'), new Response('x', { status: 404, statusText: 'No', headers: { a: 'b' } }), Response.error(), Response.redirect('http://localhost/a'), Response.json({ a: 1 })]) p.log(inspect(response))
      p.log(inspect({ a: { b: { c: new Response('x') } } }))
    },
    'printed: FormData': p => {
      const form = new p.module.FormData()
      p.log(inspect(form))
      form.append('username', 'john'); form.append('email', 'j@e'); form.append('email', 'second'); form.append('file', new Blob(['x']), 'a.txt')
      p.log(inspect(form).replace(/lastModified: \d+/g, 'lastModified: N'))
      p.log(inspect(form, { depth: 0 }).replace(/lastModified: \d+/g, 'lastModified: N'))
    },
    'printed: a response of fetch': async p => {
      const server = await p.serve((request, response) => { response.setHeader('x-a', 'b'); response.removeHeader('date'); response.sendDate = false; response.end('x') })
      const response = await p.module.fetch(server.url, { dispatcher: p.agent() })
      p.log(portless(inspect(response)))
      p.log(await response.text(), portless(inspect(response)))
    },
    'members of the classes': p => {
      for (const name of CLASSES) {
        const one = p.module[name]
        p.log(name, one.name, one.length, Object.getOwnPropertyNames(one).sort().join())
        for (const [key, value] of Object.entries(Object.getOwnPropertyDescriptors(one.prototype)).sort()) if (!EXTENSIONS.has(key)) p.log(name, key, value.enumerable, value.configurable, value.writable ?? '-', typeof (value.value ?? value.get), (value.value ?? value.get)?.length ?? '-', (value.value ?? value.get)?.name ?? '-')
        p.log(JSON.stringify(Object.getOwnPropertyDescriptor(one.prototype, Symbol.toStringTag)), one.prototype[Symbol.iterator] === one.prototype.entries)
      }
    },
    'methods of the wrong object': async p => {
      for (const name of CLASSES) {
        const { prototype } = p.module[name]
        for (const [key, { value, get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)).sort()) {
          if (EXTENSIONS.has(key)) continue
          try {
            const made = (value ?? get).call(null)
            if (made instanceof Promise) await made.catch(error => { p.log(name, key, 'rejected', error.name) }); else p.log(name, key, typeof made)
          } catch (error) { p.log(name, key, 'threw', error.name) }
        }
      }
    },
    'iterators': p => {
      const { Headers, FormData } = p.module
      const headers = new Headers([['a', '1'], ['b', '2']])
      const form = new FormData(); form.append('a', '1')
      for (const one of [headers, form]) {
        for (const name of ['entries', 'keys', 'values']) {
          const iterator = one[name]()
          p.log(inspect(iterator), Object.prototype.toString.call(iterator), iterator[Symbol.iterator]() === iterator, JSON.stringify(iterator.next()), JSON.stringify([...iterator]), JSON.stringify(iterator.next()))
          const prototype = Object.getPrototypeOf(iterator)
          p.log(Object.getOwnPropertyNames(prototype).join(), JSON.stringify(Object.getOwnPropertyDescriptor(prototype, Symbol.toStringTag)))
          p.log(outcome(() => prototype.next.call({})), outcome(() => prototype.next.call((one === headers ? form : headers)[name]())))
        }
        p.log(outcome(() => one.forEach()), outcome(() => one.forEach(1)), one.entries === one[Symbol.iterator])
      }
    },
    'Headers: arguments': p => {
      const { Headers } = p.module
      for (const init of [undefined, null, 0, 1, '1', true, Symbol('a'), [], [['a']], [['a', 'b', 'c']], ['ab'], [['a', 1]], {}, { a: 1 }, { a: undefined }, { a: null }, new Map([['a', 'b']]), new Set([['a', 'b']]), new Number(1), new String('ab'), { [Symbol('s')]: 'b' }, [['a', Symbol('b')]], { 'a b': 'c' }, { a: 'b\nc' }, { a: ' b ' }, { a: '\u0100' }, { '': 'a' }, new URLSearchParams('a=b'), Object.create({ a: 'b' })]) p.log(inspect(init), outcome(() => [...new Headers(init)]))
      const headers = new Headers()
      for (const [name, ...args] of [['append'], ['append', 'a'], ['append', 'in valid', 'b'], ['set', 'a'], ['set', 'a', '\0'], ['get'], ['get', ''], ['has'], ['has', 'a b'], ['delete'], ['delete', 'a b'], ['get', 'none'], ['set', 'a', 'b', 'c'], ['set', 'n', null], ['set', 'l', ['b', 'c']]]) p.log(name, inspect(args), outcome(() => headers[name](...args)))
      p.log(outcome(() => headers.getSetCookie()), inspect([...headers]))
    },
    'Headers: changed while iterated': p => {
      const headers = new p.module.Headers([['foo', '1'], ['bar', '2']])
      for (const [name, value] of headers) { headers.delete(name); headers.set(`x-${name}`, value) }
      p.log(inspect([...headers]))
    },
    'Request: arguments': p => {
      const { Request } = p.module
      const url = 'http://localhost/'
      for (const args of [[], [''], ['/a'], [null], [url, null], [url, 1], [url, { method: '' }], [url, { method: 'TRACE' }], [url, { method: 'patch' }], [url, { method: 'post' }], [url, { body: 'a' }], [url, { method: 'HEAD', body: 'a' }], [url, { mode: 'navigate' }], [url, { mode: 'x' }], [url, { credentials: 'x' }], [url, { cache: 'only-if-cached' }], [url, { cache: 'only-if-cached', mode: 'same-origin' }], [url, { redirect: 'x' }], [url, { referrer: 'x' }], [url, { referrer: 'about:client' }], [url, { referrerPolicy: 'x' }], [url, { integrity: 1 }], [url, { signal: {} }], [url, { signal: null }], [url, { window: 1 }], [url, { window: null }], [url, { duplex: 'full', method: 'POST', body: 'a' }], [url, { method: 'POST', body: new ReadableStream() }], [url, { priority: 'high' }], [url, { priority: 'x' }], [url, { keepalive: 1 }], [url, { headers: { a: 'b\n' } }], ['http://user:pass@localhost'], ['data:text/plain,a'], ['ftp://a']]) p.log(inspect(args.slice(1)), outcome(() => { const r = new Request(...args); return [r.url, r.method, r.mode, r.credentials, r.cache, r.redirect, r.referrer, r.referrerPolicy, r.integrity, r.keepalive, r.duplex, r.isHistoryNavigation, r.isReloadNavigation, r.destination] }))
    },
    'Response: arguments': p => {
      const { Response } = p.module
      for (const args of [['a', { status: 99 }], ['a', { status: 600 }], ['a', { status: 204 }], [null, { status: 204 }], [null, { status: 101 }], ['a', { statusText: 'a\nb' }], ['a', { statusText: 'é' }], ['a', { status: '404' }], ['a', null], ['a', 1], [Symbol('a')], [new ReadableStream()], [{}], [1], ['a', { headers: { 'a b': 'c' } }]]) p.log(inspect(args), outcome(() => { const r = new Response(...args); return [r.status, r.statusText, r.ok, r.type, r.url, r.redirected, r.headers.get('content-type'), r.body === null] }))
      for (const args of [[], ['/a'], ['http://a'], ['http://a', 200], ['http://a', 308], ['http://a', '301']]) p.log('redirect', inspect(args), outcome(() => { const r = Response.redirect(...args); return [r.status, r.headers.get('location')] }))
      for (const args of [[], [undefined], [{ a: 1n }], [{ a: 1 }, { status: 204 }], [null], ['a', { headers: { 'content-type': 'x/y' } }]]) p.log('json', inspect(args), outcome(() => { const r = Response.json(...args); return [r.status, r.headers.get('content-type')] }))
      p.log(outcome(() => Response.error().headers.append('a', 'b')), Response.error().status, Response.error().type)
    },
    'FormData: arguments': p => {
      const { FormData } = p.module
      const form = new FormData()
      for (const [name, ...args] of [['append'], ['append', 'a'], ['append', 'a', 1], ['append', 'a', 'b', 'c'], ['append', 'f', new Blob(['x'])], ['append', 'f', new Blob(['x']), undefined], ['append', 'f', new Blob(['x']), 'name'], ['set'], ['set', 'a', null], ['get'], ['get', 'f'], ['getAll', 'a'], ['has'], ['has', 'a'], ['delete'], ['delete', 'a'], ['append', '\ud800', '\udfff']]) p.log(name, inspect(args), outcome(() => { const got = form[name](...args); return got instanceof Blob ? [got.name, got.type, got.size] : got }))
      p.log(outcome(() => new FormData({})), outcome(() => new FormData(null)), outcome(() => new FormData(undefined)), inspect([...form].map(([name, value]) => [name, typeof value])))
    },
    'multipart that is parsed': async p => {
      const { Response } = p.module
      const part = (head, body) => `--b\r\n${head}\r\n\r\n${body}\r\n`
      const texts = {
        usual: `${part('Content-Disposition: form-data; name="a"', 'b')}--b--`, 'with an end of line': `${part('Content-Disposition: form-data; name="a"', 'b')}--b--\r\n`,
        empty: '--b--', 'empty with an end of line': '--b--\r\n', nothing: '', 'no end': part('Content-Disposition: form-data; name="a"', 'b'), 'a preamble': `preamble\r\n${part('Content-Disposition: form-data; name="a"', 'b')}--b--`, 'an epilogue': `${part('Content-Disposition: form-data; name="a"', 'b')}--b--\r\nmore`,
        'a file': `${part('Content-Disposition: form-data; name="f"; filename="x.txt"\r\nContent-Type: text/plain', 'body')}--b--`, 'a file without a type': `${part('Content-Disposition: form-data; name="f"; filename="x.txt"', 'body')}--b--`, 'an empty name of a file': `${part('Content-Disposition: form-data; name="f"; filename=""', '')}--b--`,
        'no name': `${part('Content-Disposition: form-data', 'b')}--b--`, 'no quotes': `${part('Content-Disposition: form-data; name=a', 'b')}--b--`, 'small letters': `${part('content-disposition: FORM-DATA; name="a"', 'b')}--b--`, 'another order': `${part('Content-Type: text/x\r\nContent-Disposition: form-data; filename="q"; name="a"', 'b')}--b--`, 'quoted characters': `${part('Content-Disposition: form-data; name="a%22b%0D%0Ac"', 'b')}--b--`, 'base64': `${part('Content-Disposition: form-data; name="f"; filename="x"\r\nContent-Transfer-Encoding: base64', Buffer.from('hello').toString('base64'))}--b--`, 'filename*': `${part("Content-Disposition: form-data; name=\"f\"; filename=\"x\"; filename*=UTF-8''y", 'b')}--b--`, 'bare LF': 'Content'.length > 0 ? '--b\nContent-Disposition: form-data; name="a"\n\nb\n--b--' : '', 'utf-8': `${part('Content-Disposition: form-data; name="fiŝo"; filename="fiŝo.txt"', 'ŝ')}--b--`
      }
      for (const [name, text] of Object.entries(texts)) await p.settle(name, new Response(text, { headers: { 'content-type': 'multipart/form-data; boundary=b' } }).formData().then(async form => inspect(await Promise.all([...form].map(async ([key, value]) => typeof value === 'string' ? [key, value] : [key, value.name, value.type, await value.text()])))))
      for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary="b"', 'multipart/form-data; BOUNDARY=b', 'multipart/form-data; charset=utf-8; boundary=b', 'multipart/mixed; boundary=b', 'text/plain', 'application/x-www-form-urlencoded', 'application/x-www-form-urlencoded; charset=latin1', '']) await p.settle(type, new Response(texts.usual, { headers: { 'content-type': type } }).formData().then(form => [...form].length))
    },
    'bodies that are read twice, locked or cancelled': async p => {
      const { Response } = p.module
      for (const name of ['text', 'json', 'arrayBuffer', 'blob', 'bytes', 'formData']) {
        const response = new Response('{"a":1}')
        await response.text()
        await response[name]().then(() => { p.log(name, 'read') }, error => { p.log(name, error.name, error.message) })
      }
      const locked = new Response('a')
      const reader = locked.body.getReader()
      await locked.text().catch(error => { p.log('locked', error.name, error.message) })
      p.log(outcome(() => locked.clone()), locked.bodyUsed); reader.releaseLock(); p.log(await locked.text())
      const cancelled = new Response('a')
      await cancelled.body.cancel('why')
      p.log(cancelled.bodyUsed); await cancelled.text().then(text => { p.log('text', text) }, error => { p.log(error.name, error.message) })
      p.log(outcome(() => cancelled.clone()))
    },
    'async iterables as bodies': async p => {
      const { Response, Request } = p.module
      let pulls = 0
      const iterable = { async * [Symbol.asyncIterator] () { pulls++; yield 'hello'; yield new Uint8Array([32, 119]) } }
      p.log(await new Response(iterable).text(), pulls)
      p.log(await new Request('http://localhost', { method: 'PUT', body: iterable, duplex: 'half' }).text(), pulls)
      for (const value of [1, null, {}, undefined, new ArrayBuffer(1)]) await p.settle(inspect(value), new Response((async function * () { yield value })()).text().catch(error => error.name))
      await p.settle('fails', new Response((async function * () { yield 'a'; throw new Error('mine') })()).text())
    },
    'clone: both read, one cancelled': async p => {
      const server = await p.serve((request, response) => { response.write('first'); response.end('second') })
      const { fetch } = p.module
      const dispatcher = p.agent()
      const one = await fetch(server.url, { dispatcher })
      const two = one.clone()
      p.log(one.url === two.url, one.type === two.type, await one.text(), await two.text())
      const three = await fetch(server.url, { dispatcher })
      const four = three.clone()
      three.body.cancel().catch(() => {})
      p.log(await four.text(), three.bodyUsed)
    },
    'errors of fetch': async p => {
      const { fetch } = p.module
      const dispatcher = p.agent()
      const closed = await p.serve(() => {})
      await new Promise(resolve => { closed.server.close(resolve) })
      for (const [url, init] of [['http://localhost:1'], [closed.url], ['ftp://localhost'], ['about:blank'], ['about:config'], ['blob:nodata'], ['data:,hello'], ['data:text/plain;base64,aGk='], ['data:bad'], ['file:///etc/passwd'], ['/relative'], ['http://a b'], [''], ['http://localhost:6000'], ['http://invalid.invalid'], [closed.url, { headers: { a: '\n' } }], [closed.url, { method: 'CONNECT' }], [closed.url, { signal: AbortSignal.abort() }], [closed.url, { signal: AbortSignal.abort(new Error('mine')) }], [closed.url, { signal: AbortSignal.abort('text') }], [closed.url, { mode: 'same-origin' }]]) {
        await fetch(url, { dispatcher, ...init }).then(async response => { p.log(url.slice(0, 10), response.status, response.type, response.url.slice(0, 12), await response.text()) }, error => { p.log(url.slice(0, 10), thrown(error) ?? error) })
      }
      await fetch().catch(error => { p.log(error.name) })
    },
    'aborts': async p => {
      const { fetch, Request } = p.module
      const server = await p.serve((request, response) => { if (request.url === '/body') { response.write('a') } })
      const dispatcher = p.agent()
      const controller = new AbortController()
      const one = fetch(server.url, { signal: controller.signal, dispatcher })
      controller.abort()
      await one.catch(error => { p.log(error.name, error.message, error instanceof DOMException, error === controller.signal.reason) })
      for (const reason of [undefined, 'text', new TypeError('mine')]) {
        const own = new AbortController()
        const response = await fetch(`${server.url}/body`, { signal: own.signal, dispatcher })
        own.abort(reason)
        await response.text().catch(error => { p.log(inspect(error).split('\n')[0], error === own.signal.reason) })
      }
      await fetch(`${server.url}/none`, { signal: AbortSignal.timeout(20), dispatcher }).catch(error => { p.log(error.name) })
      await fetch(new Request(`${server.url}/none`, { signal: AbortSignal.timeout(20) }), { dispatcher }).catch(error => { p.log(error.name) })
      const any = AbortSignal.any([AbortSignal.timeout(20), new AbortController().signal])
      await fetch(`${server.url}/none`, { signal: any, dispatcher }).catch(error => { p.log(error.name) })
    },
    'the fields of initiator, priority and window': async p => {
      const { fetch, Request } = p.module
      const server = await p.serve((request, response) => { const { host, ...headers } = request.headers; response.end(JSON.stringify(headers)) })
      for (const init of [{}, { initiator: 'prefetch' }, { priority: 'high' }, { window: null }, { cache: 'no-store' }, { cache: 'no-cache' }, { cache: 'reload' }, { mode: 'no-cors' }, { credentials: 'include' }, { headers: { range: 'bytes=0-1' } }, { headers: { 'User-Agent': 'mine', Accept: 'x/y' } }, { method: 'POST' }, { method: 'PUT', body: '' }, { keepalive: true }]) {
        const text = await fetch(server.url, { ...init, dispatcher: p.agent() }).then(response => response.text())
        p.log(inspect(init), text.replace(/"user-agent":"(node|undici)"/, '"user-agent":"-"'))
      }
      p.log(await fetch(new Request(server.url, { initiator: 'prefetch' }), { dispatcher: p.agent() }).then(response => response.text()).then(text => text.includes('sec-purpose')))
    },
    'basic credentials in a URL': async p => {
      const { fetch } = p.module
      const server = await p.serve((request, response) => { response.end(String(request.headers.authorization)) })
      for (const who of ['user:pass', 'user', ':pass', 'us%20er:p%40ss']) await p.settle(who, p.module.fetch(server.url.replace('//', `//${who}@`), { dispatcher: p.agent() }).then(async r => [r.url.includes('@'), await r.text()]), v => v)
      await p.settle('own', fetch(server.url, { headers: { authorization: 'x' }, dispatcher: p.agent() }).then(r => r.text()))
    },
    '401, 407, 421 and the like': async p => {
      const { fetch } = p.module
      let asked = 0
      const server = await p.serve((request, response) => { asked++; response.writeHead(Number(request.url.slice(1)), { 'www-authenticate': 'Basic realm="a"', 'proxy-authenticate': 'Basic', 'retry-after': '0' }).end('x') })
      for (const status of [401, 407, 408, 413, 421, 425, 429, 500, 502, 503, 504, 205, 299, 599]) await p.settle(status, fetch(`${server.url}/${status}`, { dispatcher: p.agent() }).then(async r => [r.status, await r.text(), asked], error => [error.message]), v => v)
      await p.settle('window null', fetch(`${server.url}/407`, { window: null, dispatcher: p.agent() }).then(r => r.status, error => error.message))
    },
    'resource timing': async p => {
      const { fetch } = p.module
      const server = await p.serve((request, response) => { response.end('hello world') })
      const entries = []
      const seen = Promise.withResolvers()
      const observer = new PerformanceObserver(list => { entries.push(...list.getEntriesByName(`${server.url}/`)); if (entries.length > 0) seen.resolve() })
      observer.observe({ type: 'resource' })
      await fetch(`${server.url}/`, { dispatcher: p.agent() }).then(response => response.text())
      await Promise.race([seen.promise, new Promise(resolve => { setTimeout(resolve, 500) })])
      observer.disconnect()
      for (const entry of entries) p.log(entry.entryType, entry.initiatorType, entry.responseStatus, entry.duration >= 0, entry.nextHopProtocol, entry.encodedBodySize, entry.decodedBodySize, entry.deliveryType, entry.startTime > 0, entry.responseEnd >= entry.responseStart)
      p.log(entries.length, performance.getEntriesByType('resource').some(entry => entry.name === `${server.url}/`))
      performance.clearResourceTimings()
    },
    'a Request of a Request whose body was read': async p => {
      const { Request } = p.module
      const one = new Request('http://localhost', { method: 'POST', body: 'a' })
      const two = new Request(one)
      p.log(one.bodyUsed, await two.text(), outcome(() => new Request(one)), outcome(() => one.clone()))
      const three = new Request('http://localhost', { method: 'POST', body: 'a' })
      p.log(await new Request(three, { body: 'b' }).text(), three.bodyUsed)
    },
    'methods in small letters': async p => {
      const { fetch } = p.module
      const server = await p.serve((request, response) => { response.end(request.method) })
      for (const method of ['get', 'post', 'put', 'delete', 'head', 'options', 'Query']) await p.settle(method, fetch(server.url, { method, dispatcher: p.agent() }).then(r => r.text()))
    }
  }),
  ...onVersions(VERSIONS, {
    'content-encoding': async p => {
      const server = await p.serve((request, response) => { const [coding, name] = request.url.slice(1).split('/').map(decodeURIComponent); response.writeHead(200, { 'content-encoding': coding }); response.end(bodies[name]) })
      for (const [coding, name] of [['gzip', 'gzip'], ['x-gzip', 'gzip'], ['GZIP', 'gzip'], ['br', 'br'], ['deflate', 'deflate'], ['deflate', 'deflate raw'], ['gzip', 'gzip cut'], ['gzip', 'gzip with more behind it'], ['gzip', 'no gzip'], ['identity', 'no gzip'], ['unknown', 'gzip'], ['gzip, identity', 'gzip'], ['', 'no gzip'], ['gzip,gzip,gzip,gzip,gzip,gzip', 'gzip']]) {
        await p.settle(`${coding} ${name}`, p.module.fetch(`${server.url}/${encodeURIComponent(coding)}/${encodeURIComponent(name)}`, { dispatcher: p.agent() }).then(async r => [r.headers.get('content-encoding'), (await r.text()).replace(/[^ -~]/g, '?')]), v => v)
      }
    },
    'a body that is cut': async p => {
      const server = await p.serve((request, response) => { response.writeHead(200, { 'content-length': '10' }); response.write('abc'); setTimeout(() => { response.destroy?.(); response.stream?.close(2) }, 20) })
      const response = await p.module.fetch(server.url, { dispatcher: p.agent() })
      await response.text().catch(error => { p.log(error.name, error.message) })
    },
    'a redirect with each status and method': async p => {
      const server = await p.serve(async (request, response) => {
        let body = ''
        for await (const piece of request) body += piece
        const status = Number(request.url.slice(1))
        if (status > 0) response.writeHead(status, { location: '/' }).end('x')
        else response.end(`${request.method} ${body} ${request.headers['content-type'] ?? '-'}`)
      })
      for (const status of [301, 302, 303, 307, 308, 300]) for (const method of ['GET', 'POST', 'PUT', 'DELETE']) await p.settle(`${status} ${method}`, p.module.fetch(`${server.url}/${status}`, { method, ...method === 'GET' ? {} : { body: 'b' }, dispatcher: p.agent() }).then(async r => [r.status, r.redirected, new URL(r.url).pathname, await r.text()]), v => v)
    },
    'a Readable of Node.js as a body': async p => {
      const server = await p.serve(async (request, response) => { let n = 0; for await (const piece of request) n += piece.length; response.end(String(n)) })
      await p.settle('Readable.toWeb', p.module.fetch(server.url, { method: 'POST', duplex: 'half', body: Readable.toWeb(Readable.from([Buffer.alloc(1000)], { objectMode: false })), dispatcher: p.agent() }).then(r => r.text()))
      await p.settle('Readable', p.module.fetch(server.url, { method: 'POST', duplex: 'half', body: Readable.from([Buffer.alloc(1000)]), dispatcher: p.agent() }).then(r => r.text()))
    },
    'Readable.fromWeb of a body': async p => {
      const server = await p.serve((request, response) => { response.end('x'.repeat(100_000)) })
      const response = await p.module.fetch(server.url, { dispatcher: p.agent() })
      let n = 0
      for await (const piece of Readable.fromWeb(response.body)) n += piece.length
      p.log(n)
      const again = await p.module.fetch(server.url, { dispatcher: p.agent() })
      const reader = again.body.getReader({ mode: 'byob' })
      const { value, done } = await reader.read(new Uint8Array(10))
      p.log(value.length, done); await reader.cancel()
    },
    'fields of several values': async p => {
      const server = await p.serve((request, response) => { response.setHeader('set-cookie', ['a=b', 'c=d']); response.setHeader('x-repeated', ['first', 'second']); response.setHeader('vary', 'a'); response.end('x') })
      const response = await p.module.fetch(server.url, { dispatcher: p.agent() })
      p.log(response.headers.get('set-cookie'), inspect(response.headers.getSetCookie()), response.headers.get('x-repeated'), inspect([...response.headers].filter(([name]) => !['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length'].includes(name))))
    }
  })
}

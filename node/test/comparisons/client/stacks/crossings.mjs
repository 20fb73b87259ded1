// Objects of the web's API x functions that take them: each is made by one package and used by undici, by Node.js or by the package
// itself.
import { bytesOf } from '../stage.mjs'

const text = value => { try { return value?.constructor?.name } catch { return 'none' } }
/** Objects of the module. */
const OBJECTS = {
  Headers: ({ Headers }) => new Headers({ 'X-A': '1', cookie: 'a=1; b=2', 'set-cookie': 'c=3; Path=/' }),
  'empty Headers': ({ Headers }) => new Headers(),
  FormData: ({ FormData }) => { const form = new FormData(); form.append('a', 'b'); form.append('file', new Blob(['text'], { type: 'text/x' }), 'f.txt'); return form },
  Request: ({ Request }, url) => new Request(url, { method: 'PUT', body: 'text', headers: { 'x-a': '1' } }),
  'Request without a body': ({ Request }, url) => new Request(url, { headers: { 'x-a': '1' } }),
  Response: ({ Response }) => new Response('text', { status: 201, headers: { 'x-a': '1', 'cache-control': 'max-age=60' } }),
  'Response of JSON': ({ Response }) => Response.json({ a: 1 }),
  'Response of a fetch': ({ fetch, Agent }, url, t) => fetch(`${url}/get`, { dispatcher: t.own(new Agent()) }),
  'body of a Response': ({ Response }) => new Response('text').body,
  'body of a fetch': async ({ fetch, Agent }, url, t) => (await fetch(`${url}/get`, { dispatcher: t.own(new Agent()) })).body
}
const answer = async response => [response.status, await response.text()].join(' ')
/** `(object, module, url, stage)`: what comes of its use, as a text. */
const USES = {
  'instanceof the class': (object, module) => Object.entries({ Headers: module.Headers, FormData: module.FormData, Request: module.Request, Response: module.Response }).filter(([, made]) => object instanceof made).map(([name]) => name).join(),
  'its name': object => `${Object.prototype.toString.call(object)} ${text(object)}`,
  'its keys': object => Object.keys(object).join(),
  'its members': object => { const names = []; for (let at = Object.getPrototypeOf(object); at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) names.push(...Object.getOwnPropertyNames(at)); return [...new Set(names)].sort().join() },
  'its symbols': object => Object.getOwnPropertySymbols(Object.getPrototypeOf(object)).map(String).sort().join(),
  'structuredClone': object => { try { return text(structuredClone(object)) } catch (error) { return error.name } },
  'JSON': object => JSON.stringify(object),
  'spread': object => JSON.stringify([...object].map(([name, value]) => [name, typeof value === 'string' ? value : text(value)])),
  "the body of undici's fetch": async (object, module, url, t) => answer(await module.top.fetch(`${url}/echo`, { method: 'POST', body: object, duplex: 'half', dispatcher: t.own(new module.Agent()) })),
  'the body of the own fetch': async (object, module, url, t) => answer(await module.fetch(`${url}/echo`, { method: 'POST', body: object, duplex: 'half', dispatcher: t.own(new module.Agent()) })),
  'the body of request': async (object, module, url, t) => { const { statusCode, body } = await t.own(new module.Client(url)).request({ path: '/echo', method: 'POST', body: object }); return `${statusCode} ${await body.text()}` },
  "the body of undici's request": async (object, module, url, t) => { const { statusCode, body } = await module.top.request(`${url}/echo`, { method: 'POST', body: object, dispatcher: t.own(new module.Agent()) }); return `${statusCode} ${await body.text()}` },
  'the body of a Response of its own': async (object, { Response }) => answer(new Response(object)),
  'the body of a Response of Node.js': async object => answer(new globalThis.Response(object)),
  'the body of a Request of Node.js': async object => await new globalThis.Request('http://localhost/', { method: 'POST', body: object, duplex: 'half' }).text(),
  "the headers of undici's fetch": async (object, module, url, t) => answer(await module.top.fetch(`${url}/fields`, { headers: object, dispatcher: t.own(new module.Agent()) })),
  'the headers of the own fetch': async (object, module, url, t) => answer(await module.fetch(`${url}/fields`, { headers: object, dispatcher: t.own(new module.Agent()) })),
  'the headers of request': async (object, module, url, t) => { const { body } = await t.own(new module.Client(url)).request({ path: '/fields', method: 'GET', headers: object }); return body.text() },
  'Headers of Node.js': object => JSON.stringify([...new globalThis.Headers(object)]),
  "undici's Headers": (object, module) => JSON.stringify([...new module.top.Headers(object)]),
  'Headers of its own': (object, module) => JSON.stringify([...new module.Headers(object)]),
  'the input of the own fetch': async (object, module, url, t) => answer(await module.fetch(object, { dispatcher: t.own(new module.Agent()) })),
  'the input of a Request of its own': (object, { Request }) => { const { method, url } = new Request(object); return `${method} ${new URL(url).pathname}` },
  'the init of a Request of its own': async (object, { Request }) => { const made = new Request('http://localhost/', object); return `${made.method} ${made.headers.get('x-a')} ${await made.text()}` },
  'the init of a Response of its own': (object, { Response }) => { const made = new Response('x', object); return `${made.status} ${made.headers.get('x-a')}` },
  'getCookies': (object, module) => JSON.stringify(module.getCookies(object)),
  'getSetCookies': (object, module) => JSON.stringify(module.getSetCookies(object)),
  'setCookie': (object, module) => { module.setCookie(object, { name: 'n', value: 'v' }); return JSON.stringify(object.getSetCookie()) },
  'deleteCookie': (object, module) => { module.deleteCookie(object, 'n'); return JSON.stringify(object.getSetCookie().map(one => one.split(';')[0])) },
  'a clone': async object => { const copy = object.clone(); return `${text(copy)} ${await copy.text()} ${await object.text()}` },
  'arrayBuffer': async object => (await object.arrayBuffer()).byteLength,
  'blob': async object => { const made = await object.blob(); return `${made.size} ${made.type}` },
  'formData': async object => text(await object.formData()),
  'a reader': async object => { let bytes = 0; for await (const piece of object.body ?? object) bytes += piece.length; return bytes },
  'a tee': async object => { const [one, two] = object.tee(); return `${await new globalThis.Response(one).text()} ${await new globalThis.Response(two).text()}` },
  'locked, and a text': async object => { (object.body ?? object).getReader(); return `${object.bodyUsed} ${await object.text()}` },
  'Readable.fromWeb': async object => { const { Readable } = await import('node:stream'); return (await bytesOf(Readable.fromWeb(object.body ?? object))).toString() },
  'cancel': async object => { await (object.body ?? object).cancel(); return object.bodyUsed }
}

const programs = {}
for (const [object, makes] of Object.entries(OBJECTS)) {
  for (const [use, uses] of Object.entries(USES)) {
    programs[`${object}: ${use}`] = async (module, t) => {
      const log = t.log('object')
      const server = await t.serve(async (request, response) => {
        const body = (await bytesOf(request)).toString().replace(/-+(form|trunkline)[\w-]*/gi, 'BOUNDARY')
        if (request.url === '/fields') {
          const { host, connection, 'accept-encoding': coding, 'user-agent': agent, 'sec-fetch-mode': mode, 'accept-language': language, accept, ...rest } = request.headers
          response.end(JSON.stringify(rest))
        } else response.end(`${request.method} ${request.url} ${request.headers['content-type']?.replace(/boundary=.*/, 'BOUNDARY')} ${request.headers['x-a']} ${body.includes('BOUNDARY') ? `a form ${body.includes('text/x')}` : body}`)
      })
      try {
        const own = { ...module.own, top: module.top }
        const made = await makes(own, `${server.url}/put`, t)
        log('->', String(await uses(made, own, server.url, t)).replace(/-+(formdata-undici|trunkline)[-\w]*/g, 'BOUNDARY'))
      } catch (error) {
        log('failed', error?.name, error?.code, error?.cause === undefined ? '' : `${error.cause?.name} ${error.cause?.code}`)
      }
    }
  }
}
export default programs

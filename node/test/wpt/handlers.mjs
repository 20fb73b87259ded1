// The server side of web-platform-tests' fetch tests: what the corpus's handlers of wptserve mean, as functions from a request to a
// `Response` of this package. Those that write bytes which are no HTTP are in
// raw.mjs.
import { setTimeout as later } from 'node:timers/promises'
import { Response } from 'trunkline'

/** Values that requests leave for later ones. */
const stash = new Map()
const take = key => {
  const value = stash.get(key)
  stash.delete(key)
  return value ?? null
}

const latin1 = text => Buffer.from(text, 'utf8').toString('latin1')
const answer = (status, statusText, headers, body) => new Response([101, 204, 205, 304].includes(status) || body === undefined ? null : body, { status, statusText, headers })
const text = body => new Response(body, { headers: { 'content-type': 'text/plain' } })
/** A parameter of the query as wptserve reads it: bytes. */
const parameters = url => {
  const found = new Map()
  for (const part of url.search.slice(1).split('&')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const decode = value => unescape(value.replaceAll('+', ' '))
    const [name, value] = at === -1 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))]
    if (!found.has(name)) found.set(name, value)
  }
  return found
}

/** A stream of pieces, each after a pause. */
const pieces = (pause, count, piece) => new ReadableStream({
  async pull (controller) {
    if (count-- === 0) return controller.close()
    await later(pause)
    controller.enqueue(Buffer.from(piece))
  }
}, { highWaterMark: 0 })

const echoed = (request, query) => {
  const headers = []
  const asked = query.get('headers')?.split('|') ?? []
  for (const name of asked) if (request.headers.has(name)) headers.push([`x-request-${name}`, request.headers.get(name)])
  if (query.has('cors')) {
    headers.push(['access-control-allow-origin', request.headers.get('origin') ?? '*'], ['access-control-allow-credentials', 'true'])
    headers.push(['access-control-allow-methods', 'GET, POST, HEAD'], ['access-control-expose-headers', asked.map(name => `x-request-${name}`).join(', ')])
    headers.push(['access-control-allow-headers', query.get('allow_headers') ?? [...request.headers.keys()].join(', ')])
  }
  return headers
}

async function redirect (request, query) {
  const origin = request.headers.get('origin')
  const headers = [['content-type', 'text/plain'], ['cache-control', 'no-cache'], ['pragma', 'no-cache'], ['access-control-allow-origin', origin ?? '*']]
  if (origin !== null) headers.push(['access-control-allow-credentials', 'true'])
  const token = query.get('token')
  const state = (token !== undefined && take(token)) || { count: 0, preflight: '0' }
  if (request.method === 'OPTIONS') {
    state.preflight = '1'
    if (!query.has('redirect_preflight')) {
      if (token !== undefined) stash.set(token, state)
      return answer(200, '', headers, '')
    }
  }
  const status = Number(query.get('redirect_status') ?? 302)
  state.count++
  if (query.has('location')) {
    let url = query.get('location')
    if (!query.has('simple') && /^(?:https?:|(?![a-z][a-z\d+.-]*:))/i.test(url)) {
      url += (url.includes('?') ? '&' : '?') + [...query].map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&') + `&count=${state.count}`
    }
    headers.push(['location', url])
  }
  if (query.has('redirect_referrerpolicy')) headers.push(['referrer-policy', query.get('redirect_referrerpolicy')])
  if (query.has('delay')) await later(Number(query.get('delay')))
  if (token !== undefined) {
    stash.set(token, state)
    if (query.has('max_count') && state.count > Number(query.get('max_count'))) return new Response(String(state.count - 1))
  }
  return answer(status, '', headers, '')
}

function preflight (request, query) {
  const headers = [['content-type', 'text/plain'], ...(query.get('origin')?.split(', ') ?? ['*']).map(origin => ['access-control-allow-origin', origin])]
  const token = query.get('token')
  if (query.has('clear-stash')) return answer(200, '', headers, take(token) === null ? '0' : '1')
  const state = (token !== undefined && take(token)) || { preflight: '0', headers: '', referrer: '' }
  headers.push(['access-control-expose-headers', 'x-did-preflight, x-control-request-headers, x-referrer, x-preflight-referrer, x-origin'])
  headers.push(['x-did-preflight', state.preflight], ['x-control-request-headers', state.headers], ['x-preflight-referrer', state.referrer])
  headers.push(['x-referrer', request.headers.get('referer') ?? ''], ['x-origin', request.headers.get('origin') ?? ''])
  if (token !== undefined) stash.set(token, state)
  return answer(200, '', headers, '')
}

function infinite (request, query) {
  const [state, abort] = [query.get('stateKey'), query.get('abortKey')]
  if (state !== undefined) stash.set(state, 'open')
  const close = () => { if (state !== undefined) stash.set(state, 'closed') }
  request.signal.addEventListener('abort', close)
  let first = true
  return text(new ReadableStream({
    async pull (controller) {
      if (first) controller.enqueue(Buffer.from('.'.repeat(2048)))
      first = false
      await later(10)
      if (request.signal.aborted || (abort !== undefined && take(abort) !== null)) {
        close()
        return controller.close()
      }
      controller.enqueue(Buffer.from('.'))
    },
    cancel: close
  }, { highWaterMark: 0 }))
}

function cacheState (request, query) {
  const token = query.get('token')
  if (query.has('querystate')) return text(JSON.stringify(take(token)))
  const tag = query.has('tag') && query.get('tag') ? `"${query.get('tag')}"` : null
  const date = query.get('date')
  const [inm, ims] = [request.headers.get('if-none-match'), request.headers.get('if-modified-since')]
  const seen = {}
  if (!query.has('ignore')) {
    for (const name of ['If-None-Match', 'If-Modified-Since', 'Pragma', 'Cache-Control']) if (request.headers.has(name)) seen[name] = request.headers.get(name)
  }
  stash.set(token, [...take(token) ?? [], seen])
  const headers = [['access-control-allow-origin', '*']]
  if (tag !== null) headers.push(['etag', tag])
  else if (date) headers.push(['last-modified', date])
  for (const [key, name] of [['expires', 'expires'], ['vary', 'vary'], ['cache_control', 'cache-control']]) if (query.get(key)) headers.push([name, query.get(key)])
  if (query.get('redirect')) return answer(302, 'Redirect', [...headers, ['location', query.get('redirect')]], '')
  if ((inm !== null && inm === tag) || (ims !== null && ims === date)) return answer(304, 'Not Modified', headers)
  return answer(200, 'OK', [...headers, ['content-type', 'text/plain']], query.get('content') ?? '')
}

function httpCache (request, query) {
  const [dispatch, uuid] = [query.get('dispatch'), query.get('uuid')]
  if (uuid === undefined) return answer(404, 'Not Found', {}, 'UUID not found')
  if (dispatch === 'state') return text(JSON.stringify(take(uuid)))
  if (dispatch !== 'test') return answer(404, 'Not Found', {}, 'Fallthrough')
  const state = take(uuid) ?? []
  const config = JSON.parse(Buffer.from(request.headers.get('test-requests') ?? '', 'base64').toString())[state.length]
  if (config === undefined) return answer(404, 'Not Found', {}, 'Config not found')
  const now = Date.now() / 1000
  const headers = new Map([['access-control-allow-credentials', 'true']])
  const noted = {}
  for (let [name, value] of config.response_headers ?? []) {
    const lower = name.toLowerCase()
    if (['location', 'content-location'].includes(lower)) value = value.length > 0 ? `${request.url}&target=${value}` : request.url
    if (['date', 'expires', 'last-modified'].includes(lower) && typeof value === 'number') value = new Date((now + value) * 1000).toUTCString()
    headers.set(lower, String(value))
    if (['content-type', 'access-control-allow-origin', 'last-modified', 'etag'].includes(lower)) noted[lower] = value
  }
  state.push({ now, request_method: request.method, request_headers: Object.fromEntries(request.headers), response_headers: noted })
  stash.set(uuid, state)
  if (!headers.has('access-control-allow-origin')) headers.set('access-control-allow-origin', '*')
  if (!headers.has('content-type')) headers.set('content-type', 'text/plain')
  headers.set('server-request-count', String(state.length))
  let [code, phrase] = config.response_status ?? [200, 'OK']
  if ((config.expected_type ?? '').endsWith('validated')) {
    const { 'last-modified': modified, etag } = state[0].response_headers
    const isSame = (modified && request.headers.get('if-modified-since') === modified) || (etag && request.headers.get('if-none-match') === etag)
    // wptserve's 999 is no status that a Response can have.
    ;[code, phrase] = isSame ? [304, 'Not Modified'] : [599, '304 Not Generated']
  }
  return answer(code, phrase, [...headers], config.response_body ?? uuid)
}

function stashed (request, query) {
  if (query.has('dump')) return Response.json(take(query.get('stash')))
  stash.set(query.get('stash'), [...take(query.get('stash')) ?? [], request.headers.get('origin') ?? 'no Origin header'])
  if (query.has('location')) return answer(308, '', { location: query.get('location') + (query.has('dummyJS') ? '&dummyJS' : '') }, '')
  return answer(200, '', { 'content-type': 'text/html', 'access-control-allow-origin': '*' }, '')
}

const encoded = coding => () => answer(200, '', { 'content-encoding': coding }, `not actually ${coding}`)
const header = (request, name) => request.headers.get(name) ?? 'NO'
const directory = url => url.pathname.replace(/[^/]*$/, '')

function partial (request, query) {
  const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.get('range') ?? '')
  const total = Number(query.get('length') ?? 100)
  const type = query.get('type') ?? 'text/plain'
  if (range === null) return answer(200, '', { 'content-type': type, 'cache-control': 'no-cache' }, '0'.repeat(total))
  const [start, end] = [Number(range[1]), range[2] === '' ? total : Number(range[2])]
  if (end <= start || end > total) return answer(416, 'Range Not Satisfiable', { 'content-type': type }, '')
  return answer(Number(query.get('partial') ?? 206), '', { 'content-type': type, 'accept-ranges': 'bytes', 'cache-control': 'no-cache', 'content-range': `bytes ${start}-${end}/${total}` }, '0'.repeat(end - start))
}

function wav (request, query) {
  const range = request.headers.get('range')
  if (query.has('range-received-key') && range !== null) stash.set(`/fetch/range/${query.get('range-received-key')}`, 'range-header-received')
  if (query.has('accept-encoding-key')) stash.set(`/fetch/range/${query.get('accept-encoding-key')}`, request.headers.get('accept-encoding') ?? '')
  return answer(range === null ? 200 : 206, '', { 'content-type': 'audio/wav', 'accept-ranges': 'bytes' }, Buffer.alloc(1000))
}

/** By the path; a function of the request, its query (names and values as bytes) and its URL. */
export const handlers = {
  '/fetch/api/resources/authentication.py': (request, query) => {
    const given = Buffer.from((request.headers.get('authorization') ?? '').replace(/^Basic /, ''), 'base64').toString()
    if (given === 'user:password') return new Response('Authentication done')
    return answer(401, 'Unauthorized', { 'www-authenticate': `Basic realm="${query.get('realm') ?? 'test'}"` }, "Please login with credentials 'user' and 'password'")
  },
  '/fetch/api/resources/cache.py': request => request.headers.get('if-none-match') === '"123abc"'
    ? answer(304, 'Not Modified', { 'x-http-status': '304' })
    : answer(200, 'OK', { etag: '"123abc"', 'content-type': 'text/plain' }, 'lorem ipsum dolor sit amet'),
  '/fetch/api/resources/clean-stash.py': (_, query) => new Response(take(query.get('token')) === null ? '0' : '1'),
  '/fetch/api/resources/dump-authorization-header.py': request => answer(200, '', {
    'content-type': 'text/html', 'cache-control': 'no-cache', 'access-control-allow-origin': request.headers.get('origin') ?? '*', 'access-control-allow-headers': 'Authorization'
  }, request.headers.get('authorization') ?? 'none'),
  '/fetch/api/resources/echo-content.py': async request => answer(200, '', {
    'x-request-method': request.method, 'x-request-content-length': header(request, 'content-length'), 'x-request-content-type': header(request, 'content-type'), 'content-type': 'text/plain'
  }, await request.bytes()),
  '/fetch/api/resources/echo-content.h2.py': request => text(request.body ?? ''),
  '/fetch/api/resources/huge-response.py': () => {
    const piece = Buffer.alloc(1024 * 1024)
    return answer(200, '', { 'content-type': 'text/plain', 'cache-control': 'max-age=86400' }, new ReadableStream({ pull (controller) { controller.enqueue(piece) } }, { highWaterMark: 0 }))
  },
  '/fetch/api/resources/infinite-slow-response.py': infinite,
  '/fetch/api/resources/inspect-headers.py': (request, query) => answer(200, '', [...echoed(request, query), ['content-type', 'text/plain']], ''),
  '/fetch/api/resources/method.py': async request => answer(200, '', {
    'x-request-method': request.method, ...Object.fromEntries(['type', 'length', 'encoding', 'language', 'location'].map(name => [`x-request-content-${name}`, header(request, `content-${name}`)]))
  }, await request.bytes()),
  '/fetch/api/resources/preflight.py': preflight,
  '/fetch/api/resources/redirect-empty-location.py': () => answer(302, '', { location: '' }, ''),
  '/fetch/api/resources/redirect.h2.py': (_, query) => answer(Number(query.get('redirect_status') ?? 302), '', { 'content-type': 'text/plain', ...(query.has('location') && { location: query.get('location') }) }, ''),
  '/fetch/api/resources/redirect.py': redirect,
  '/fetch/api/resources/stash-put.py': (_, query, url) => {
    stash.set(directory(url) + query.get('key'), query.get('value'))
    return answer(200, '', { 'access-control-allow-origin': '*' }, 'done')
  },
  '/fetch/api/resources/stash-take.py': (_, query, url) => Response.json(take(directory(url) + query.get('key')) ?? take(query.get('key'))),
  '/fetch/api/resources/status.py': (request, query) => answer(Number(query.get('code') ?? 200), query.get('text') ?? 'OMG', { 'content-type': query.get('type') ?? '', 'x-request-method': request.method }, query.get('content') ?? ''),
  '/fetch/api/resources/trickle.py': async (request, query) => {
    const pause = Number(query.get('ms') ?? 500)
    await request.bytes()
    await later(pause)
    return new Response(pieces(pause, Number(query.get('count') ?? 50), 'TEST_TRICKLE\n'), { headers: query.has('notype') ? {} : { 'content-type': 'text/plain' } })
  },
  '/fetch/api/request/resources/cache.py': cacheState,
  '/fetch/http-cache/resources/http-cache.py': httpCache,
  '/fetch/origin/resources/redirect-and-stash.py': stashed,
  '/fetch/origin/resources/referrer-policy.py': (_, query) => answer(200, '', { 'content-type': 'text/html', ...(query.has('referrerPolicy') && { 'referrer-policy': query.get('referrerPolicy') }) }, ''),
  '/fetch/content-type/resources/content-type.py': (_, query, url) => {
    const values = url.searchParams.getAll('value').map(latin1)
    const headers = query.has('single_header') ? [['content-type', values.join(',')]] : values.map(value => ['content-type', value])
    return answer(200, 'OK', [['x-content-type-options', 'nosniff'], ...headers], query.get('content') ?? '<b>hi</b>\n')
  },
  '/fetch/content-encoding/br/resources/bad-br-body.py': encoded('br'),
  '/fetch/content-encoding/gzip/resources/bad-gzip-body.py': encoded('gzip'),
  '/fetch/content-encoding/zstd/resources/bad-zstd-body.py': encoded('zstd'),
  '/fetch/range/resources/partial-text.py': partial,
  '/fetch/range/resources/long-wav.py': wav,
  '/fetch/range/resources/stash-take.py': (_, query) => Response.json(take(`/fetch/range/${query.get('key')}`)),
  '/mimesniff/mime-types/resources/mime-charset.py': (_, query) => answer(200, 'OK', { 'content-type': query.get('type') }, '<meta charset=utf-8>'),
  '/common/redirect.py': (_, query) => answer(Number(query.get('status') ?? 302), '', { location: query.get('location') }, ''),
  '/common/slow.py': async (_, query) => {
    await later(Number(query.get('delay') ?? 2000))
    return new Response('')
  },
  '/xhr/resources/parse-headers.py': (_, query) => answer(200, '', query.has('my-custom-header') ? { 'my-custom-header': query.get('my-custom-header') } : {}, ''),
  '/xhr/resources/echo-headers.py': request => text([...request.headers].map(([name, value]) => `${name}: ${value}`).join('\n')),
  '/xhr/resources/status.py': (request, query) => handlers['/fetch/api/resources/status.py'](request, query)
}

/** The answer of a handler, if there is one for the path. */
export async function handled (request, url) {
  const handler = handlers[url.pathname]
  return handler === undefined ? undefined : await handler(request, parameters(url), url)
}


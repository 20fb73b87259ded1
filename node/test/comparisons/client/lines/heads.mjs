// Heads of answers by size, by number of fields and by limit x call, and fields of requests that have rules of their own.
import http from 'node:http'
import { CALLS } from '../line_calls.mjs'

const limit = http.maxHeaderSize
const fields = (count, bytes) => Array.from({ length: count }, (_, at) => `x-${at}: ${'a'.repeat(bytes)}\r\n`).join('')
/** Heads whose sizes are clear of each limit: what counts of a head differs by a few bytes for a field. */
const SIZES = {
  '1 field of 100 bytes': fields(1, 100), '1 field of 8,000 bytes': fields(1, 8000), [`1 field of the limit less 1,000`]: fields(1, limit - 1000), '1 field of the limit': fields(1, limit),
  '1 field of 3 times the limit': fields(1, limit * 3), '1 field of 100,000 bytes': fields(1, 100_000), '10 fields of 1,000 bytes': fields(10, 1000), '20 fields of 1,000 bytes': fields(20, 1000),
  '100 fields': fields(100, 10), '120 fields': fields(120, 10), '150 fields': fields(150, 10), '200 fields': fields(200, 10), '400 fields': fields(400, 2), '1,000 fields': fields(1000, 2)
}
const LIMITS = { 'the default': {}, 'a limit of 1,000': { maxHeaderSize: 1000 }, 'a limit of 60,000': { maxHeaderSize: 60_000 }, 'a limit of 200,000': { maxHeaderSize: 200_000 } }
const REQUESTS = {
  'te: trailers': { te: 'trailers' }, 'te: gzip': { te: 'gzip' }, 'te: trailers and others': { te: 'trailers, deflate;q=0.5' }, 'TE in capitals': { TE: 'trailers' }, 'te twice': { te: ['trailers', 'gzip'] },
  'one cookie': { cookie: 'a=1' }, 'cookies in one text': { cookie: 'a=1; b=2' }, 'cookies in a list': { cookie: ['a=1', 'b=2'] }, 'cookies in a flat list': ['cookie', 'a=1', 'x-a', 'b', 'Cookie', 'b=2'], 'cookies in a list of one': { Cookie: ['a=1'] },
  'set-cookie': { 'set-cookie': ['a', 'b'] }, 'accept twice': { accept: ['a', 'b'] }, 'trailer': { trailer: 'x-a' }, 'an empty list': { 'x-a': [] }, 'via': { via: '1.1 a' }, 'date': { date: 'x' },
  'upgrade-insecure-requests': { 'upgrade-insecure-requests': '1' }, 'http2-settings': { 'http2-settings': 'AAA' }, 'priority': { priority: 'u=1' }, 'content-type alone': { 'content-type': 'text/x' }, 'content-encoding': { 'content-encoding': 'gzip' },
  'accept-encoding': { 'accept-encoding': 'gzip' }, 'user-agent': { 'user-agent': 'own' }, 'range': { range: 'bytes=0-1' }, 'authorization': { authorization: 'Basic x' }
}

const programs = {}
for (const [call, asks] of Object.entries(CALLS)) {
  for (const [size, text] of Object.entries(SIZES)) {
    for (const [label, options] of Object.entries(LIMITS)) {
      programs[`${call}, ${size}, ${label}`] = async (module, t) => {
        const server = await t.serveAnswer(`HTTP/1.1 200 OK\r\n${text}content-length: 2\r\n\r\nok`)
        await asks(module, t, server.url, { path: '/', method: 'GET' }, t.log('client'), options)
      }
    }
  }
  for (const [label, headers] of Object.entries(REQUESTS)) {
    for (const method of ['GET', 'POST']) {
      programs[`${call}, ${method} with ${label}`] = async (module, t) => {
        const log = t.log('server')
        const server = await t.serve((request, response) => {
          const { rawHeaders } = request
          const lines = rawHeaders.flatMap((name, at) => at % 2 === 0 && !/^host$/i.test(name) ? [`${name}: ${rawHeaders[at + 1]}`] : [])
          log(lines.join('|'))
          log('cookie', request.headers.cookie)
          response.end('ok')
        })
        await asks(module, t, server.url, { path: '/', method, headers, ...(method === 'POST' ? { body: 'text' } : {}) }, t.log('client'))
      }
    }
  }
}
export default programs

// Bodies in memory x method x content-length x strictness x call: what is sent, and whether it is.
import { CALLS } from '../line_calls.mjs'
import { bytesOf } from '../stage.mjs'

const BODIES = { 'no body': () => undefined, 'null': () => null, 'an empty text': () => '', 'an empty Buffer': () => Buffer.alloc(0), 'an empty Blob': () => new Blob([]), 'two bytes': () => 'ab', 'a Blob of two bytes': () => new Blob(['ab']) }
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'REPORT']

const programs = {}
for (const [call, asks] of Object.entries(CALLS)) {
  for (const [body, make] of Object.entries(BODIES)) {
    for (const method of METHODS) {
      for (const length of [0, 2, 5]) {
        for (const strictContentLength of [true, false]) {
          // One that is too short leaves the server waiting.
          programs[`${call}, ${method}, ${body} as ${length}${strictContentLength ? '' : ', not strict'}`] = async (module, t) => {
            const log = t.log('client')
            const server = await t.serve(async (request, response) => {
              t.log('server')(request.method, request.headers['content-length'], request.headers['transfer-encoding'])
              const got = await bytesOf(request).catch(() => null)
              if (got !== null) response.end(`got ${got}`)
            })
            await asks(module, t, server.url, { path: '/', method, body: make(), headers: { 'content-length': String(length) } }, log, { strictContentLength })
          }
        }
      }
    }
  }
}
export default programs

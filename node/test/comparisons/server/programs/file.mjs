// Files as responses.
import { closeSync, mkdtempSync, openSync, promises, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { core, throwing } from '../shapes.mjs'
import { fields } from '../stage.mjs'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-parity-'))
const small = join(folder, 'small.txt')
const large = join(folder, 'large.bin')
writeFileSync(small, 'a small file')
writeFileSync(large, Buffer.alloc(3 << 20, 'z'))
const none = join(folder, 'none')

const file = (path, headers, options) => core((stream, { log, t }) => {
  t.watch(log, stream, 'stream', ['error', 'close'], (event, ...args) => args)
  t.attempt(log, 'respondWithFile', () => stream.respondWithFile(path, headers, options))
})
const bad = call => throwing({
  offset: stream => { call(stream, { offset: 'x' }) }, length: stream => { call(stream, { length: 'x' }) }, statCheck: stream => { call(stream, { statCheck: 1 }) },
  204: stream => { call(stream, {}, { ':status': 204 }) }, 205: stream => { call(stream, {}, { ':status': 205 }) }, 304: stream => { call(stream, {}, { ':status': 304 }) }, 100: stream => { call(stream, {}, { ':status': 100 }) }
})

export default {
  'a file': file(small, { 'content-type': 'text/plain' }),
  'a large file': file(large, {}),
  'a file from an offset': file(small, {}, { offset: 2 }),
  'a part of a file': file(small, {}, { offset: 2, length: 5 }),
  'a length beyond the end': file(small, {}, { length: 1000 }),
  ...Object.fromEntries([null, false, 0].map(onError => [`a file that is not there, with ${onError} as onError`, file(none, {}, { onError })])),
  'a length of zero': file(small, {}, { length: 0 }),
  'a file that is not there': file(none, {}),
  'a file that is not there, with onError': core((stream, { log, t }) => {
    stream.respondWithFile(none, {}, { onError: error => { log(error.code); stream.respond({ ':status': 404 }); stream.end('none') } })
  }),
  'a folder': file(folder, {}),
  'a folder, with onError': core((stream, { log }) => {
    stream.respondWithFile(folder, {}, { onError: error => { log(error); stream.respond({ ':status': 403 }); stream.end() } })
  }),
  'statCheck sees the file and sets fields': core((stream, { log }) => {
    stream.respondWithFile(small, { 'content-type': 'text/plain' }, {
      statCheck (stat, headers, ...more) { log(more, stat.size, this === stream, fields({ ...headers, date: 1 })); headers['x-size'] = stat.size }
    })
  }),
  'statCheck answers itself': core((stream, { log }) => {
    stream.respondWithFile(small, {}, { statCheck () { stream.respond({ ':status': 304 }); stream.end(); return false } })
  }),
  'a file with trailers': core((stream, { log }) => {
    stream.on('wantTrailers', () => { log('wantTrailers'); stream.sendTrailers({ 'x-sum': 'abc' }) })
    stream.respondWithFile(small, {}, { waitForTrailers: true })
  }),
  'a file with a status': file(small, { ':status': 203 }),
  'a file twice is refused': core((stream, { log, t }) => {
    stream.respondWithFile(small, {})
    stream.on('finish', () => { t.attempt(log, 'again', () => stream.respondWithFile(small, {})) })
  }),
  'files for HEAD are refused': core((stream, { log, t }) => {
    t.attempt(log, 'file', () => stream.respondWithFile(small, {}))
    t.attempt(log, 'fd', () => stream.respondWithFD(0, {}))
    stream.respond({}, { endStream: true })
  }, { headers: { ':method': 'HEAD' } }),
  'options of files that cannot be are refused': bad((stream, options, headers = {}) => stream.respondWithFile(small, headers, options)),
  'options of descriptors that cannot be are refused': bad((stream, options, headers = {}) => stream.respondWithFD(0, headers, options)),
  'a descriptor': core((stream, { log }) => {
    const fd = openSync(small)
    stream.on('close', () => { closeSync(fd); log('still open') })
    stream.respondWithFD(fd, { 'content-type': 'text/plain' })
  }),
  'a part of a descriptor': core(stream => {
    const fd = openSync(small)
    stream.on('close', () => { closeSync(fd) })
    stream.respondWithFD(fd, {}, { offset: 2, length: 5 })
  }),
  'a descriptor with statCheck': core((stream, { log }) => {
    const fd = openSync(small)
    stream.on('close', () => { closeSync(fd) })
    stream.respondWithFD(fd, {}, { statCheck (stat, headers, range) { log(stat.size, range); headers['content-length'] = stat.size } })
  }),
  'a file handle': core(async stream => {
    const handle = await promises.open(small)
    stream.on('close', () => { handle.close() })
    stream.respondWithFD(handle, {})
  }),
  'a descriptor that is none': throwing({ text: stream => { stream.respondWithFD('x') }, nothing: stream => { stream.respondWithFD() } }),
  'a descriptor that is closed': core((stream, { log, t }) => {
    t.watch(log, stream, 'stream', ['error', 'close'], (event, ...args) => args)
    const fd = openSync(small)
    closeSync(fd)
    stream.respondWithFD(fd, {})
  })
}

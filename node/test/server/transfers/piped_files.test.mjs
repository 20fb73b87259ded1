// Files that are piped into responses. Each program runs on node's own server and on ours, and its file and its response have the same events, its
// client the same bytes; where nothing else reads the file, no thread is asked for its pieces.
import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import nodeHttp2 from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, pipeline } from 'node:stream'
import test, { after } from 'node:test'
import { createServer, http2 } from 'trunkline'
import { load } from '../../../dist/channel/addon.js'

const folder = fs.mkdtempSync(join(tmpdir(), 'trunkline-piped-'))
after(() => { fs.rmSync(folder, { recursive: true }) })
const PIECE = 64 * 1024
const SIZES = [0, 1, 4_000, 30_000, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 2_000_001]
/** No piece has the bytes of another. */
const fileOf = size => {
  const name = join(folder, String(size))
  if (!fs.existsSync(name)) fs.writeFileSync(name, Uint8Array.from({ length: size }, (_, at) => ((at * 31) >> 3) + 7 * Math.floor(at / PIECE)))
  return name
}
const LARGE = 2_000_001
const hash = bytes => createHash('sha256').update(bytes).digest('hex').slice(0, 16)

/** By name: what a handler does with a response. `note` writes to the trace. */
const PROGRAMS = {
  ...Object.fromEntries(SIZES.map(size => [`a file of ${size} bytes`, ({ response, open }) => { open(fileOf(size)).pipe(response) }])),
  'a part': ({ response, open }) => { open(fileOf(LARGE), { start: 70_001, end: 400_000 }).pipe(response) },
  'a part that begins at its end': ({ response, open }) => { open(fileOf(LARGE), { start: LARGE }).pipe(response) },
  'small pieces': ({ response, open }) => { open(fileOf(PIECE), { highWaterMark: 1000 }).pipe(response) },
  'large pieces': ({ response, open }) => { open(fileOf(LARGE), { highWaterMark: 1e6 }).pipe(response) },
  'a pipeline': ({ response, open, note }) => { pipeline(open(fileOf(LARGE)), response, error => { note(`pipeline ${error?.code ?? 'ends'}`) }) },
  'another listener': ({ response, open, note }) => {
    const seen = []
    const source = open(fileOf(LARGE))
    source.on('data', piece => { seen.push(piece) })
    source.pipe(response)
    source.on('end', () => { note(hash(Buffer.concat(seen))) })
  },
  'a listener that comes later': ({ response, open, note }) => {
    const seen = []
    const source = open(fileOf(LARGE))
    source.pipe(response)
    source.on('ready', () => { source.on('data', piece => { seen.push(piece) }) })
    source.on('end', () => { note(hash(Buffer.concat(seen))) })
  },
  'a second sink': ({ response, open, note }) => {
    const seen = []
    const source = open(fileOf(LARGE))
    const second = new PassThrough()
    source.pipe(response)
    source.pipe(second)
    second.on('data', piece => { seen.push(piece) })
    second.on('end', () => { note(hash(Buffer.concat(seen))) })
  },
  'a pause': ({ response, open }) => {
    const source = open(fileOf(LARGE))
    source.pipe(response)
    source.pause()
    setImmediate(() => { source.resume() })
  },
  'a text': ({ response, open }) => { open(fileOf(PIECE), { encoding: 'latin1' }).pipe(response) },
  'a response whose write is changed': ({ response, open }) => {
    const { write } = response
    response.write = function (piece, ...rest) { return write.call(this, Buffer.from(piece).reverse(), ...rest) }
    open(fileOf(PIECE)).pipe(response)
  },
  'a response whose changed write keeps its pieces, as one that compresses': ({ response, open }) => {
    const kept = []
    const { write } = response
    response.write = piece => {
      kept.push(piece)
      return true
    }
    const source = open(fileOf(LARGE))
    source.pipe(response, { end: false })
    source.on('end', () => {
      response.write = write
      response.end(Buffer.concat(kept))
    })
  },
  'a corked response, which keeps its pieces': ({ response, open }) => {
    // As many pieces as it takes, each with bytes of its own, and large enough to be read into memory that is used again.
    const source = open(fileOf(3 * PIECE), { highWaterMark: 20_000 })
    response.cork()
    source.pipe(response)
    source.on('ready', () => { setImmediate(() => { setImmediate(() => { response.uncork() }) }) })
  },
  'a response that does not end with it': ({ response, open }) => {
    const source = open(fileOf(PIECE))
    source.pipe(response, { end: false })
    source.on('end', () => { response.end('more') })
  },
  'two files in turn': ({ response, open }) => {
    const first = open(fileOf(PIECE))
    first.pipe(response, { end: false })
    first.on('end', () => { open(fileOf(30_000)).pipe(response) })
  },
  'a file system of its own': ({ response, open, note }) => {
    let reads = 0
    const own = { open: fs.open, close: fs.close, read (...given) { reads++; return fs.read(...given) } }
    open(fileOf(PIECE), { fs: own }).on('end', () => { note(`${reads} reads`) }).pipe(response)
  },
  'a descriptor that stays open': ({ response, open, note }) => {
    const fd = fs.openSync(fileOf(LARGE))
    const source = open(null, { fd, autoClose: false })
    source.on('end', () => {
      note(fs.fstatSync(fd).size)
      fs.closeSync(fd)
    })
    source.pipe(response)
  },
  'a file that is not there': ({ response, open, note }) => {
    open(join(folder, 'none')).on('error', error => {
      note(error.code)
      response.end('none')
    }).pipe(response)
  },
  'a folder': ({ response, open, note }) => {
    open(folder).on('error', error => {
      note(error.code)
      response.end('folder')
    }).pipe(response)
  }
}

const FACES = {
  'node:http': [http, options => createServer({ ...options, requests: 'http' })],
  'the compatible API': [nodeHttp2, http2.createServer],
  'the core API': [nodeHttp2, http2.createServer, true]
}

/** A body as a client of node's own gets it. */
async function get (isHttp2, port, method = 'GET') {
  if (isHttp2) {
    const session = nodeHttp2.connect(`http://127.0.0.1:${port}`)
    const stream = session.request({ ':path': '/', ':method': method })
    const pieces = []
    for await (const piece of stream) pieces.push(piece)
    session.close()
    return Buffer.concat(pieces)
  }
  const request = http.request({ port, method, agent: false })
  request.end()
  const [response] = await once(request, 'response')
  const pieces = []
  for await (const piece of response) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Runs a program: the events of its files and of its response, and the client's bytes. */
async function traced (server, isHttp2, isCore, program, method) {
  const files = []
  const notes = []
  const ofResponse = []
  let over
  const isOver = new Promise(resolve => { over = resolve })
  const handle = response => {
    let opened = 0
    const close = () => { if (--opened === 0) over() }
    opened++
    response.once('close', close)
    for (const event of ['pipe', 'unpipe', 'finish', 'close']) response.on(event, () => { ofResponse.push(event) })
    const open = (name, options) => {
      const events = []
      const source = fs.createReadStream(name, options)
      files.push(events)
      for (const event of ['open', 'ready', 'end']) source.on(event, () => { events.push(event) })
      source.on('close', () => { events.push(`close ${source.bytesRead} ${source.readableDidRead} ${source.readableEnded}`) })
      if (options?.autoClose !== false) {
        opened++
        source.once('close', close)
      }
      return source
    }
    program({ response, open, note: text => { notes.push(text) } })
  }
  if (isCore) server.on('stream', stream => { stream.respond({}); handle(stream) })
  else server.on('request', (_request, response) => { handle(response) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const body = await get(isHttp2, server.address().port, method)
  await isOver
  server.close()
  return { files, notes, response: ofResponse, bytes: body.length, hash: hash(body) }
}

for (const [face, [node, create, isCore = false]] of Object.entries(FACES)) {
  const isHttp2 = node === nodeHttp2
  for (const [name, program] of Object.entries(PROGRAMS)) {
    test(`${face}: ${name} is sent as by node's own`, async () => {
      const ours = await traced(create({}), isHttp2, isCore, program)
      assert.deepEqual(ours, await traced(node.createServer(), isHttp2, isCore, program))
    })
  }
}

test('a HEAD request gets no byte of a file', async () => {
  const [node, create] = FACES['node:http']
  const program = PROGRAMS[`a file of ${PIECE} bytes`]
  const ours = await traced(create({}), false, false, program, 'HEAD')
  assert.deepEqual(ours, await traced(node.createServer(), false, false, program, 'HEAD'))
})

/** Calls `change` while a response with a file has no room; resolves with its result, and with how much had been read before. */
async function whenFull (change) {
  const server = http2.createServer()
  const full = new Promise(resolve => {
    server.on('request', (_request, response) => {
      const source = fs.createReadStream(fileOf(8_000_000))
      source.pipe(response)
      const look = () => {
        if (response.stream.writableNeedDrain) resolve({ source, response })
        else setImmediate(look)
      }
      look()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = nodeHttp2.connect(`http://127.0.0.1:${server.address().port}`)
  session.on('error', () => {})
  const stream = session.request({ ':path': '/' })
  stream.on('error', () => {})
  const { source, response } = await full
  const waits = source.bytesRead
  const result = await change({ source, response, stream })
  session.destroy()
  server.close()
  return { waits, result }
}
const sizeOf = async stream => {
  let bytes = 0
  for await (const piece of stream) bytes += piece.length
  return bytes
}

test('a file is not read ahead of a client that does not read, and goes on when it does', async () => {
  const { waits, result } = await whenFull(({ stream }) => sizeOf(stream))
  assert.ok(waits < 4_000_000, `${waits} bytes were read`)
  assert.equal(result, 8_000_000)
})

test('a file that is destroyed while its response waits is closed, and nothing more is sent', async () => {
  const { waits, result } = await whenFull(async ({ source, response, stream }) => {
    source.destroy()
    await once(source, 'close')
    response.end()
    return { read: source.bytesRead, got: await sizeOf(stream) }
  })
  assert.deepEqual(result, { read: waits, got: waits })
})

test('a file that is unpiped while its response waits is read on by another', async () => {
  const { waits, result } = await whenFull(async ({ source, response, stream }) => {
    source.unpipe(response)
    response.end()
    const got = sizeOf(stream)
    return { rest: await sizeOf(source), got: await got }
  })
  assert.deepEqual(result, { rest: 8_000_000 - waits, got: waits })
})

test('what the system has in memory is read without a thread: a file is opened and closed by one, and nothing else', async t => {
  const fd = fs.openSync(fileOf(LARGE))
  const isThere = load().readCached(fd, Buffer.alloc(10), 10, 0) === 10
  fs.closeSync(fd)
  if (!isThere) return t.skip('the system has no such reads')
  for (const [face, [node, create, isCore = false]] of Object.entries(FACES)) {
    const calls = []
    const hook = createHook({ init (_id, type) { if (type === 'FSREQCALLBACK') calls.push(type) } }).enable()
    await traced(create({}), node === nodeHttp2, isCore, PROGRAMS[`a file of ${LARGE} bytes`])
    hook.disable()
    assert.equal(calls.length, 2, face)
  }
})

test('a read of a part that is not in memory, of no descriptor or of a closed one is left to node', () => {
  const { readCached } = load()
  const fd = fs.openSync(fileOf(PIECE))
  const into = Buffer.alloc(100)
  assert.equal(readCached(-1, into, 100, 0), -1)
  assert.equal(readCached(999_999, into, 100, 0), -1)
  assert.ok([0, -1].includes(readCached(fd, into, 100, PIECE)))
  assert.ok([50, -1].includes(readCached(fd, into, 50, 7)))
  assert.ok([100, -1].includes(readCached(fd, into, 1000, 7)))
  fs.closeSync(fd)
})

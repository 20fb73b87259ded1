// Bodies of answers that are made piece by piece, by the source and by its pieces, and bodies of requests beyond a bound.

const bytes = text => new TextEncoder().encode(text)
const turn = () => new Promise(setImmediate)
const LONG = 'y'.repeat(200_000)

const SOURCES = {
  'a stream': pieces => new ReadableStream({
    start (controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    }
  }),
  'a stream by pull': pieces => {
    const rest = [...pieces]
    return new ReadableStream({
      async pull (controller) {
        await turn()
        if (rest.length === 0) controller.close()
        else controller.enqueue(rest.shift())
      }
    })
  },
  'a stream of bytes': pieces => {
    const rest = [...pieces]
    return new ReadableStream({
      type: 'bytes',
      async pull (controller) {
        await turn()
        if (rest.length === 0) controller.close()
        else controller.enqueue(rest.shift())
      }
    })
  },
  'a transform': pieces => {
    const { readable, writable } = new TransformStream()
    const writer = writable.getWriter()
    void (async () => {
      for (const piece of pieces) await writer.write(piece)
      await writer.close()
    })().catch(() => {})
    return readable
  },
  'a generator': async function * (pieces) { for (const piece of pieces) { await turn(); yield piece } },
  'a function that is a generator': pieces => async function * () { for (const piece of pieces) yield piece },
  'an object with an iterator': pieces => ({ async * [Symbol.asyncIterator] () { yield * pieces } }),
  'the body of a Response': (pieces, { Response }) => new Response(pieces.join('')).body,
  'the stream of a Blob': pieces => new Blob(pieces).stream(),
  'a branch of a tee': pieces => new ReadableStream({
    start (controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    }
  }).tee()[0]
}
const PIECES = {
  'no pieces': () => [],
  'one piece': () => [bytes('one')],
  'two pieces': () => [bytes('one'), bytes('two')],
  'text': () => ['one', 'two'],
  'an empty piece': () => [bytes(''), bytes('x'), bytes('')],
  'an ArrayBuffer': () => [bytes('one').buffer],
  'a view of another kind': () => [new Uint16Array([0x6161, 0x6262])],
  'long pieces': () => [bytes(LONG), bytes(LONG)],
  'a number': () => [bytes('one'), 5],
  'null': () => [bytes('one'), null],
  'an object': () => [bytes('one'), {}]
}
const STATUSES = { 200: 'GET', 404: 'GET', 206: 'HEAD' }

const programs = {}
for (const [source, make] of Object.entries(SOURCES)) {
  for (const [label, pieces] of Object.entries(PIECES)) {
    for (const [status, method] of Object.entries(STATUSES)) {
      if (status !== '200' && label !== 'two pieces') continue
      programs[`${source}, ${label}, ${method} ${status}`] = async (module, stage) => {
        const server = stage.serve(module, {
          fetch: () => new module.Response(make(pieces(), module), { status: Number(status), headers: { 'content-type': 'text/x' } }),
          error (error) {
            stage.log('server')('error', error instanceof Error)
            return new module.Response('failed', { status: 500 })
          }
        })
        await stage.ask(server, { method })
      }
    }
  }
}

/** Bodies of requests, by their lengths, beside a bound of 100 bytes. */
const BODIES = { none: null, 'an empty one': 0, '100 bytes': 100, '101 bytes': 101, '100,000 bytes': 100_000 }
const READS = {
  text: request => request.text(),
  arrayBuffer: async request => (await request.arrayBuffer()).byteLength,
  json: request => request.json(),
  stream: async request => {
    let count = 0
    for await (const piece of request.body ?? []) count += piece.length
    return count
  },
  nothing: () => 'nothing'
}
for (const [label, length] of Object.entries(BODIES)) {
  for (const framing of ['a length', 'chunks']) {
    if (length === null && framing === 'chunks') continue
    for (const [read, call] of Object.entries(READS)) {
      for (const caught of [false, true]) {
        programs[`a bound of 100, ${label} by ${framing}, ${read}${caught ? ', caught' : ''}`] = async (module, stage) => {
          const log = stage.log('server')
          const server = stage.serve(module, {
            maxRequestBodySize: 100,
            async fetch (request) {
              log('called')
              if (!caught) return new module.Response(`read ${String(await call(request)).length}`)
              try {
                return new module.Response(`read ${String(await call(request)).length}`)
              } catch (error) {
                log('rejected', error instanceof Error)
                return new module.Response('caught', { status: 500 })
              }
            }
          })
          const text = '1'.repeat(length ?? 0)
          const isChunked = framing === 'chunks'
          await stage.ask(server, {
            method: 'POST',
            body: isChunked ? `${length === 0 ? '' : `${length.toString(16)}\r\n${text}\r\n`}0\r\n\r\n` : text,
            fields: isChunked ? [['transfer-encoding', 'chunked']] : length === 0 ? [['content-length', '0']] : []
          })
        }
      }
    }
  }
}
export default programs

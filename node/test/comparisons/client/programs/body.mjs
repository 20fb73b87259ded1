// The body of an answer: how it is read, how it ends, and how it fails.
import { once } from 'node:events'
import { finished, Readable } from 'node:stream'
import { closing, turns } from '../stage.mjs'

const EVENTS = ['error', 'close', 'end', 'aborted']

/** A program over the body of an answer. */
const over = (serve, use, options = {}, ask = {}) => async ({ Client }, t) => {
  const log = t.log('body')
  const server = await t.serve(serve)
  const client = t.own(new Client(server.url, options))
  const answer = await client.request({ path: '/', method: 'GET', ...ask })
  // The events are a side of their own: their order among what is asked for says nothing.
  t.watch(t.log('events'), answer.body, 'body', EVENTS)
  await use(answer.body, log, t, answer)
  await turns()
}

const sends = text => (request, response) => { response.end(text) }
const cuts = (request, response) => { response.writeHead(200, { 'content-length': 100 }); response.write('begin'); setImmediate(() => { setTimeout(() => { request.socket.destroy() }, 20) }) }
const begins = (request, response) => { response.write('begin') }
const inPieces = pieces => (request, response) => {
  const next = () => {
    const piece = pieces.shift()
    if (piece === undefined) return response.end()
    response.write(piece)
    setTimeout(next, 20)
  }
  pieces = [...pieces]
  next()
}
/** How a body is read to its end. */
const ways = {
  text: body => body.text(),
  json: body => body.json(),
  bytes: async body => Buffer.from(await body.bytes()).toString(),
  arrayBuffer: async body => Buffer.from(await body.arrayBuffer()).toString(),
  blob: async body => { const blob = await body.blob(); return `${blob.type} ${await blob.text()}` },
  dump: body => body.dump().then(() => 'over')
}

const programs = {}
for (const [name, read] of Object.entries(ways)) {
  programs[`${name} of a whole body`] = over(sends('"hello"'), async (body, log, t) => {
    await t.settle(log, name, read(body))
    log('used', body.bodyUsed)
  })
  programs[`${name} of a body in pieces`] = over(inPieces(['"he', 'llo"']), async (body, log, t) => { await t.settle(log, name, read(body)) })
  programs[`${name} of an empty body`] = over(sends(''), async (body, log, t) => { await t.settle(log, name, read(body)) })
  programs[`${name} of a body that is cut`] = over(cuts, async (body, log, t) => { await t.settle(log, name, read(body)) })
  programs[`${name} behind readable`] = over(sends('"hello"'), async (body, log, t) => {
    await once(body, 'readable')
    log('used', body.bodyUsed)
    await t.settle(log, name, read(body))
  })
  programs[`${name} beside listeners of data`] = over(inPieces(['"he', 'llo"']), async (body, log, t) => {
    // On a busy machine the two pieces come as one.
    let seen = ''
    body.on('data', chunk => { seen += chunk })
    await t.settle(log, name, read(body))
    log('data', seen)
  })
  programs[`${name} behind destroy`] = over(begins, async (body, log, t) => {
    body.destroy()
    await t.settle(log, name, read(body))
  })
  programs[`${name} a second time`] = over(sends('"hello"'), async (body, log, t) => {
    await t.settle(log, name, read(body))
    await t.settle(log, `${name} again`, read(body))
  })
}

for (const encoding of ['hex', 'base64', 'latin1', 'utf8']) {
  programs[`text with setEncoding of ${encoding}`] = over(inPieces([Buffer.from('grü', 'utf8').subarray(0, 3), Buffer.from('grü', 'utf8').subarray(3), 'ße']), async (body, log, t) => {
    body.setEncoding(encoding)
    await t.settle(log, 'text', body.text())
  })
  programs[`for await with setEncoding of ${encoding}`] = over(sends('grüße'), async (body, log) => {
    body.setEncoding(encoding)
    for await (const chunk of body) log('chunk', chunk)
  })
}

export default {
  ...programs,
  'text with a byte order mark': over(sends('\ufeffhello'), async (body, log, t) => { await t.settle(log, 'text', body.text().then(text => text.length)) }),
  'json that is none': over(sends('{'), async (body, log, t) => { await t.settle(log, 'json', body.json()) }),
  'formData': over(sends('a=b'), async (body, log, t) => { await t.settle(log, 'formData', body.formData()) }),
  'a body that is cut and not read fails': over(cuts, async body => { await closing(body) }),
  'finished of a body that is cut': over(cuts, async (body, log) => {
    await new Promise(resolve => { finished(body, error => { log('finished', error); resolve() }) })
  }),
  'a body of more than maxResponseSize fails': over(inPieces(['begin', 'and', 'more than that']), async body => { await closing(body) }, { maxResponseSize: 10 }),
  'destroy without an error': over(begins, async body => { const closed = closing(body); body.destroy(); await closed }),
  'destroy with an error': over(begins, async body => { const closed = closing(body); body.destroy(new Error('mine')); await closed }),
  'destroy without a listener of errors': async ({ Client }, t) => {
    const log = t.log('body')
    const server = await t.serve(begins)
    const client = t.own(new Client(server.url))
    const { body } = await client.request({ path: '/', method: 'GET' })
    body.on('close', () => { log('close', body.errored) })
    const closed = closing(body)
    body.destroy()
    await closed
    await turns()
  },
  'a body that is cut, without a listener of errors': async ({ Client }, t) => {
    const log = t.log('body')
    const server = await t.serve(cuts)
    const client = t.own(new Client(server.url))
    const { body } = await client.request({ path: '/', method: 'GET' })
    await closing(body)
    log('errored', body.errored)
    await turns()
  },
  'destroy of a body that is read to its end': over(sends('hello'), async (body, log) => { log(await body.text()); body.destroy() }),
  'break out of for await': over(inPieces(['one', 'two']), async (body, log) => { for await (const chunk of body) { log(String(chunk)); break } }),
  'for await of a body that is cut': over(cuts, async (body, log) => {
    try { for await (const chunk of body) log(String(chunk)) } catch (error) { log('thrown', error) }
  }),
  'pause and resume': over(inPieces(['one', 'two', 'three']), async (body, log) => {
    body.on('data', chunk => { log(String(chunk)); body.pause(); setImmediate(() => { body.resume() }) })
    await closing(body)
  }),
  'dump of more than its limit by content-length': over((request, response) => { response.writeHead(200, { 'content-length': 1000 }); response.write('begin') },
    async (body, log, t) => { await t.settle(log, 'dump', body.dump({ limit: 100 }).then(() => 'over')) }),
  'dump of more than its limit': over((request, response) => { response.write('a'.repeat(200)) },
    async (body, log, t) => { await t.settle(log, 'dump', body.dump({ limit: 100 }).then(() => 'over')) }),
  'dump to a HEAD with a content-length': over((request, response) => { response.writeHead(200, { 'content-length': 1_000_000 }); response.end() },
    async (body, log, t) => { await t.settle(log, 'dump', body.dump({ limit: 100 }).then(() => 'over')) }, {}, { method: 'HEAD' }),
  'dump with a signal that has aborted': over(begins, async (body, log, t) => { await t.settle(log, 'dump', body.dump({ signal: AbortSignal.abort(new Error('mine')) })) }),
  'dump with a signal that aborts': over(begins, async (body, log, t) => {
    const abort = new AbortController()
    const dumped = body.dump({ signal: abort.signal })
    abort.abort(new Error('mine'))
    await t.settle(log, 'dump', dumped)
  }),
  'dump with a signal that is none': over(begins, async (body, log, t) => { await t.settle(log, 'dump', body.dump({ signal: 'x' })) }),
  'its members before it is read': over(sends('hello'), async (body, log) => {
    log(Object.keys(body).filter(name => !/^[_$]/.test(name)), body.eventNames().length, body.listenerCount('data'), body.listeners('end').length, body.getMaxListeners())
    log(await body.text())
  }),
  'readableLength of what waits': over(sends('hello'), async (body, log) => {
    log(body.readableLength)
    log(await body.text())
  }),
  'whether it was disturbed': over(sends('hello'), async (body, log) => {
    log(Readable.isDisturbed(body), body.readableDidRead)
    await body.text()
    log(Readable.isDisturbed(body), body.readableDidRead, body.closed, body.destroyed)
  }),
  'members that a program adds': over(sends('hello'), async (body, log) => {
    Object.assign(body, { method: 1, field: 2, seen: 3, held: 4, failure: 5, web: 6, kept: 7, collected: 8, settle: 9, waiting: 10, taken: 11, pour: 12 })
    log(await body.text(), body.method, body.held)
  }),
  ...Object.fromEntries(['prependListener', 'prependOnceListener'].map(add => [`${add}, then text`, over(sends('hello'), async (body, log) => {
    for (const event of ['data', 'end']) body[add](event, () => { log(event) })
    log(await body.text())
  })])),
  'bodyUsed of a body that is not read': over(sends('hello'), async (body, log) => { log(body.bodyUsed) }),
  'the web stream': over(sends('hello'), async (body, log) => {
    const chunks = []
    for await (const chunk of body.body) chunks.push(Buffer.from(chunk))
    log(Buffer.concat(chunks), body.body.locked, body.bodyUsed)
  }),
  'text while the web stream is read': over(sends('hello'), async (body, log, t) => {
    body.body.getReader()
    await t.settle(log, 'text', body.text())
  }),
  'the web stream behind text': over(sends('hello'), async (body, log, t) => {
    await t.settle(log, 'text', body.text())
    log(body.body.locked)
  })
}

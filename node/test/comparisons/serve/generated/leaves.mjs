// Clients that leave in the middle of an exchange: what a handler, its signal and its streams see.

const get = path => `GET /${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`
const upload = path => `POST /${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\nhello`
const chunked = path => `POST /${path} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`

/** Ways to leave. */
const LEAVES = {
  'by a reset': socket => { socket.resetAndDestroy() },
  'by an end of both sides': socket => { socket.destroy() },
  'by an end of its side': socket => { socket.end() }
}

/** Handlers: `seen` is called with what they see, and `done` once there is nothing more to see. */
const HANDLERS = {
  'that waits for the signal': (request, { seen, done, module }) => new Promise(resolve => {
    request.signal.addEventListener('abort', () => {
      seen('aborted', request.signal.aborted, request.signal.reason?.name)
      resolve(new module.Response('late'))
      done()
    })
  }),
  'whose stream waits': (request, { seen, done, module }) => new module.Response(new ReadableStream({
    start (controller) { controller.enqueue(new TextEncoder().encode('first')) },
    pull: () => new Promise(() => {}),
    cancel () {
      seen('cancelled')
      done()
    }
  })),
  'whose stream waits, and whose signal is read': (request, { seen, done, module }) => {
    let count = 0
    const one = text => () => {
      seen(text)
      if (++count === 2) done()
    }
    request.signal.addEventListener('abort', one('aborted'))
    return new module.Response(new ReadableStream({
      start (controller) { controller.enqueue(new TextEncoder().encode('first')) },
      pull: () => new Promise(() => {}),
      cancel: one('cancelled')
    }))
  },
  'whose stream goes on': (request, { seen, done, module }) => new module.Response(new ReadableStream({
    async pull (controller) {
      await new Promise(resolve => { setTimeout(resolve, 2) })
      controller.enqueue(new Uint8Array(10_000))
    },
    cancel () {
      seen('cancelled')
      done()
    }
  })),
  'whose generator goes on': (request, { seen, done, module }) => new module.Response((async function * () {
    try {
      for (;;) {
        await new Promise(resolve => { setTimeout(resolve, 2) })
        yield new Uint8Array(10_000)
      }
    } finally {
      seen('returned')
      done()
    }
  })())
}
const UPLOADS = {
  'that reads a text': async (request, { seen, done }) => {
    try {
      seen('read', (await request.text()).length)
    } catch (error) {
      seen('rejected', error.name)
    }
    done()
  },
  'that reads a stream': async (request, { seen, done }) => {
    try {
      for await (const piece of request.body) seen('piece', piece.length)
      seen('ended')
    } catch (error) {
      seen('rejected', error.name)
    }
    done()
  },
  'that reads json': async (request, { seen, done }) => {
    try {
      await request.json()
      seen('read')
    } catch (error) {
      seen('rejected', error.name)
    }
    done()
  },
  'that reads it later': async (request, { seen, done }) => {
    await new Promise(resolve => { request.signal.addEventListener('abort', resolve) })
    seen('aborted')
    try {
      seen('read', (await request.text()).length)
    } catch (error) {
      seen('rejected', error.name)
    }
    done()
  }
}

const program = (text, handler, leave, isHead) => async (module, stage) => {
  let [begin, end] = []
  const begun = new Promise(resolve => { begin = resolve })
  const over = new Promise(resolve => { end = resolve })
  const server = stage.serve(module, {
    async fetch (request) {
      if (new URL(request.url).pathname === '/after') return new module.Response('after')
      begin()
      return await handler(request, { seen: stage.log('server'), done: end, module }) ?? new module.Response('late')
    },
    error (error) {
      stage.log('error')(error.name)
      return new module.Response('error')
    }
  })
  const connection = await stage.connect(server)
  connection.write(text)
  await begun
  if (isHead) while (!connection.held.includes('\r\n\r\n')) await connection.more()
  leave(connection.socket)
  await over
  await stage.ask(server, { target: '/after' })
  stage.log('server')('pending', server.pendingRequests)
}

const programs = {}
for (const [way, leave] of Object.entries(LEAVES)) {
  for (const [name, handler] of Object.entries(HANDLERS)) {
    // One that has ended its side reads what goes on.
    if (name.endsWith('goes on') && way === 'by an end of its side') continue
    programs[`a handler ${name}, a client that leaves ${way}`] = program(get('x'), handler, leave, name !== 'that waits for the signal')
  }
  for (const [name, handler] of Object.entries(UPLOADS)) {
    programs[`a handler ${name} of a known length, a client that leaves ${way}`] = program(upload('x'), handler, leave, false)
    programs[`a handler ${name} in chunks, a client that leaves ${way}`] = program(chunked('x'), handler, leave, false)
  }
}
export default programs

// Behaviours of every form of a server on every version. `except` lists the pairs without a
// behaviour, and why.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { receivedText } from '../../support/clients/received.mjs'
import { all, socketTo } from './clients.mjs'
import { BIG, digest, LARGE_VALUE, SLOW_PIECE_BYTES, SLOW_PIECES } from './sizes.mjs'

const isOfStreams = version => version.protocol !== 'http/1.1'
const onlyHttp1 = (face, version) => isOfStreams(version) && 'HTTP/1.1 alone has it'
const onlyStreams = (face, version) => !isOfStreams(version) && 'HTTP/1.1 has no streams'
const text = answer => String(answer.body)
const HTTP_VERSION = { 'http/1.1': '1.1', h2: '2.0', h3: '3.0' }

/** More than windows and the kernel's buffers take; over HTTP/3 the windows alone hold an upload, at 4 MiB. */
const unreadMiB = version => version.protocol === 'h3' ? 12 : 32

let words = 0
const aWord = () => `w${++words}`

/** The conversation ends early, however the version says that. */
async function isCut (conversation) {
  await assert.rejects(conversation.rest())
}

/**
 * Other requests of the client are answered. Some at once, since a server waits 30 s for a reader that takes nothing,
 * in which 20 requests one after the other do not end on a machine that pauses.
 */
async function othersAreAnswered (client) {
  for (let round = 0; round < 4; round++) {
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.ask('/five')))
    for (const answer of answers) assert.equal(text(answer), 'hello')
  }
}

export const behaviours = [
  {
    name: 'every method is told as it is, with what was asked for',
    async run ({ client, version }) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const hasBody = method !== 'GET'
        const answer = await client.ask('/head?q=1', { method, body: hasBody ? '' : undefined })
        const printed = JSON.parse(answer.body)
        assert.deepEqual([answer.status, printed.method, printed.path], [200, method, '/head?q=1'])
        assert.equal(printed.httpVersion, HTTP_VERSION[version.protocol])
      }
    }
  },
  {
    name: 'headers with several values, cookies in crumbs, and large ones',
    async run ({ client }) {
      const headers = { 'x-list': ['a', 'b'], cookie: 'c=1; d=2', 'x-long': LARGE_VALUE }
      const answer = await client.ask('/head', { headers })
      const printed = JSON.parse(answer.body)
      assert.deepEqual([printed.list, printed.cookie, printed.length], ['a, b', 'c=1; d=2', LARGE_VALUE.length])
      assert.deepEqual(answer.headers['set-cookie'], ['c=1', 'd=2'])
      assert.match(String(answer.headers['x-list']), /^a, ?b$/)
      assert.match(String(answer.headers.date), / GMT$/)
      assert.equal((await client.ask('/large')).headers['x-long'], LARGE_VALUE)
    }
  },
  {
    name: 'a sensitive header is in nobody\'s table',
    except: (face, version) => (version.protocol !== 'h2' && 'the client does not tell of it') ||
      (face !== 'core' && 'the core API alone has a word for it'),
    async run ({ client }) {
      const conversation = client.begin('/secret', {}, true)
      assert.deepEqual((await conversation.head).sensitive, ['x-secret'])
      await conversation.rest()
    }
  },
  {
    name: 'no body, and none where the status says so',
    async run ({ client }) {
      for (const [path, status] of [['/empty', 204], ['/unchanged', 304]]) {
        const answer = await client.ask(path)
        assert.deepEqual([answer.status, answer.body.length], [status, 0])
      }
      assert.equal(text(await client.ask('/five')), 'hello')
    }
  },
  {
    name: 'HEAD has the head of a GET and no body',
    async run ({ client }) {
      const answer = await client.ask('/five', { method: 'HEAD' })
      assert.deepEqual([answer.status, Number(answer.headers['content-length']), answer.body.length], [200, 5, 0])
      assert.equal(text(await client.ask('/five')), 'hello')
    }
  },
  {
    name: 'a small body comes back',
    async run ({ client }) {
      assert.equal(text(await client.ask('/echo', { method: 'POST', body: 'a body' })), 'a body')
      assert.equal(text(await client.ask('/count', { method: 'POST', body: '' })), '0')
    }
  },
  {
    name: 'ten mebibytes go up',
    async run ({ client }) {
      assert.equal(text(await client.ask('/digest', { method: 'POST', body: BIG })), digest(BIG))
    }
  },
  {
    name: 'ten mebibytes come down',
    async run ({ client }) { assert.equal(digest((await client.ask('/big')).body), digest(BIG)) }
  },
  {
    name: 'ten mebibytes go through, as fast as the slower side',
    async run ({ client }) {
      assert.equal(digest((await client.ask('/echo', { method: 'POST', body: BIG })).body), digest(BIG))
    }
  },
  {
    name: 'trailers of the request are read behind its body, and sent back',
    except: (face, version) => version.name === 'h3' && 'a client of ours sends none: see the foreign clients',
    async run ({ client }) {
      const { body, trailers } = await client.ask('/trailers', { method: 'POST', body: 'body', trailers: { 'x-sent': 'theirs' } })
      assert.deepEqual([String(body), trailers['x-heard']], ['body', 'theirs'])
    }
  },
  ...['before', 'while', 'after'].map(when => ({
    name: `trailers that are set ${when} the body`,
    async run ({ client }) {
      const { body, trailers } = await client.ask(`/trailers-${when}`)
      assert.deepEqual([String(body), trailers['x-sum']], ['body', when])
    }
  })),
  {
    name: 'early hints come before the answer',
    async run ({ client }) {
      const { interim, body } = await client.ask('/hints')
      assert.deepEqual(interim.map(([status, { link }]) => [status, link]), [[103, '</a.css>; rel=preload; as=style']])
      assert.equal(String(body), 'styled')
    }
  },
  {
    name: 'a client that waits to be asked for its body is asked',
    except: (face, version) => version.name === 'h3' && 'a client of ours sends its body with the head: see the foreign clients',
    async run ({ client }) {
      const conversation = client.begin('/count', { method: 'POST', headers: { expect: '100-continue' } })
      const asked = once(conversation.request ?? conversation.stream, 'continue')
      conversation.request?.flushHeaders()
      await asked
      conversation.end('five!')
      assert.equal(text(await conversation.rest()), '5')
    }
  },
  {
    name: 'a client that gives up before the answer is noticed',
    async run ({ client, notes }) {
      const word = aWord()
      const conversation = client.begin(`/hang?to=${word}`, { method: 'POST' })
      conversation.end()
      await notes.until(word, 'came')
      conversation.abort()
      await notes.until(word, 'gone')
      assert.equal(text(await client.ask('/five')), 'hello')
    }
  },
  {
    name: 'a client that gives up in its body is noticed',
    async run ({ client, notes }) {
      const word = aWord()
      const conversation = client.begin(`/hang?to=${word}`, { method: 'POST' })
      await conversation.write('a part')
      await notes.until(word, 'came')
      conversation.abort()
      await notes.until(word, 'gone')
      assert.equal(text(await client.ask('/five')), 'hello')
    }
  },
  {
    name: 'a client that gives up in the answer is noticed',
    async run ({ client, notes }) {
      const word = aWord()
      const conversation = client.begin(`/half?to=${word}`)
      conversation.end()
      await conversation.head
      assert.equal(await receivedText(conversation.body, 'half'), 'half')
      conversation.abort()
      await notes.until(word, 'gone')
      assert.equal(text(await client.ask('/five')), 'hello')
    }
  },
  {
    name: 'a server that gives up before its answer ends the exchange',
    except: face => (face === 'serve' || face === 'Hono on serve') && 'a handler of the web can only fail, which is an answer',
    async run ({ client }) {
      const conversation = client.begin('/breaks-before')
      conversation.end()
      await isCut(conversation)
      assert.equal(text(await client.ask('/five')), 'hello')
    }
  },
  {
    name: 'a server that gives up in its answer does not seem to have ended it',
    async run ({ client }) {
      const conversation = client.begin('/breaks-while')
      conversation.end()
      await isCut(conversation)
      assert.equal(text(await client.ask('/five')), 'hello')
    }
  },
  {
    name: 'a server that gives up in the request ends the exchange',
    except: face => (face === 'serve' || face === 'Hono on serve') && 'a handler of the web can only fail, which is an answer',
    async run ({ client }) {
      const conversation = client.begin('/breaks-upload', { method: 'POST' })
      void conversation.write('a part')
      await isCut(conversation)
      conversation.abort()
      assert.equal(text(await client.ask('/five')), 'hello')
    }
  },
  {
    name: 'what a handler throws is a 500, and costs one exchange',
    except: face => (face === 'core' || face === 'compat') && 'what a listener throws is uncaught, as on node:http2',
    async run ({ client }) {
      assert.equal((await client.ask('/throws')).status, 500)
      assert.equal(text(await client.ask('/five')), 'hello')
    }
  },
  {
    name: 'what a handler rejects with is a 500, and costs one exchange',
    async run ({ client }) {
      assert.equal((await client.ask('/rejects')).status, 500)
      assert.equal(text(await client.ask('/five')), 'hello')
    }
  },
  {
    name: 'a path that nobody has is a 404',
    async run ({ client }) { assert.equal((await client.ask('/nowhere')).status, 404) }
  },
  {
    name: 'a slow reader holds its answer back, and nobody else\'s',
    async run ({ client, notes }) {
      const word = aWord()
      const conversation = client.begin(`/slow?to=${word}`)
      conversation.end()
      await conversation.head
      await othersAreAnswered(client)
      const made = notes.counted(word)
      assert.ok(made < SLOW_PIECES, `all ${made} pieces were made for nobody`)
      assert.equal((await conversation.rest()).body.length, SLOW_PIECES * SLOW_PIECE_BYTES)
    }
  },
  {
    name: 'a request that is not read holds its client back, and nobody else',
    async run ({ client, notes, version }) {
      const mebibytes = unreadMiB(version)
      const word = aWord()
      const conversation = client.begin(`/unread?to=${word}`, { method: 'POST' })
      const piece = Buffer.alloc(1 << 20)
      let given = 0
      const upload = (async () => {
        for (; given < mebibytes; given++) await conversation.write(piece)
        conversation.end()
      })()
      await notes.until(word, 'came')
      await othersAreAnswered(client)
      assert.ok(given < mebibytes, 'all of it was taken, and nobody had read')
      notes.gate(word).open()
      await upload
      assert.equal(text(await conversation.rest()), String(mebibytes << 20))
    }
  },
  {
    name: 'an answer that comes before the request has ended is whole',
    async run ({ client }) {
      const conversation = client.begin('/early', { method: 'POST' })
      await conversation.write('a part')
      assert.equal((await conversation.head).status, 200)
      assert.equal(String(await all(conversation.body)), 'early')
      conversation.abort()
      assert.equal(text(await client.ask('/five')), 'hello')
    }
  },
  {
    name: 'a client that has ended its side hears the answer to its end',
    async run ({ client, notes }) {
      const word = aWord()
      const conversation = client.begin(`/late?to=${word}`, { method: 'POST' })
      conversation.end('all of it')
      await conversation.head
      notes.gate(word).open()
      assert.equal(text(await conversation.rest()), 'begun ended')
    }
  },
  {
    name: 'a client that ends its side behind its request is answered by a handler that has the answer',
    except: onlyHttp1,
    async run ({ version, port }) {
      const socket = await socketTo(version, port)
      socket.end('GET /five HTTP/1.1\r\nhost: localhost\r\n\r\n')
      assert.match(String(await all(socket)), /^HTTP\/1\.1 200 [^]*hello/)
    }
  },
  {
    name: 'a connection that its client has half closed is over, as on node:http',
    except: (face, version) => onlyHttp1(face, version) || ((face === 'serve' || face === 'Hono on serve') && 'answers go out (transfers/half_closed.test.mjs)'),
    async run ({ client, version, port, notes }) {
      const word = aWord()
      const socket = await socketTo(version, port)
      const printed = all(socket)
      socket.write(`GET /hang?to=${word} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
      await notes.until(word, 'came')
      socket.end()
      await notes.until(word, 'gone')
      assert.equal(String(await printed), '')
      assert.equal(text(await client.ask('/five')), 'hello')
    }
  },
  {
    name: 'pipelined requests are answered in their order',
    except: onlyHttp1,
    async run ({ version, port, notes }) {
      const word = aWord()
      const socket = await socketTo(version, port)
      const printed = all(socket)
      const head = (path, more = '') => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${more}\r\n`
      socket.write(head(`/late?to=${word}`) + head('/five') + head('/nowhere') + head('/bytes/1024', 'connection: close\r\n'))
      await notes.until(word, 'came')
      notes.gate(word).open()
      const heads = String(await printed).match(/HTTP\/1\.1 \d{3}|hello|ended|x{1024}/g)
      assert.deepEqual(heads, ['HTTP/1.1 200', 'ended', 'HTTP/1.1 200', 'hello', 'HTTP/1.1 404', 'HTTP/1.1 200', 'x'.repeat(1024)])
      socket.destroy()
    }
  },
  {
    name: 'a connection is used again, and ends when its client says so',
    async run ({ version, connect, connections }) {
      const before = connections()
      const client = connect()
      for (let round = 0; round < 20; round++) assert.equal(text(await client.ask('/five')), 'hello')
      assert.equal(connections() - before, 1)
      await client.close()
      if (isOfStreams(version)) return
      const fresh = connect()
      const answer = await fresh.ask('/five', { headers: { connection: 'close' } })
      assert.equal(answer.headers.connection, 'close')
      await fresh.close()
    }
  },
  {
    name: 'a thousand streams at once are all answered',
    except: onlyStreams,
    async run ({ connect, notes }) {
      const client = connect()
      if (client.session !== undefined) await once(client.session, 'remoteSettings')
      const word = aWord()
      const asked = Array.from({ length: 1000 }, () => client.ask(`/late?to=${word}`))
      notes.gate(word).open()
      const answers = await Promise.all(asked)
      assert.ok(answers.every(answer => text(answer) === 'begun ended'))
      await client.close()
    }
  },
  {
    name: 'a hundred connections at once are all answered',
    except: onlyHttp1,
    async run ({ client, notes }) {
      const word = aWord()
      const asked = Array.from({ length: 100 }, () => {
        const conversation = client.begin(`/late?to=${word}`)
        conversation.end()
        return conversation.rest()
      })
      await notes.until(word, 'came')
      notes.gate(word).open()
      assert.ok((await Promise.all(asked)).every(answer => text(answer) === 'begun ended'))
    }
  }
]


// Libraries that take a dispatcher, or a function like `fetch`: the real packages, unchanged.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import test from 'node:test'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { UndiciHttpHandler } from '@smithy/undici-http-handler'
import axios from 'axios'
import got from 'got'
import ky from 'ky'
import OpenAI, { toFile } from 'openai'
import { Agent, fetchOver } from 'trunkline'
import { cert } from '../../support/certificates/certificate.mjs'
import { h2 } from '../../support/servers/servers.mjs'

const connect = { ca: cert }

/** A server over HTTP/2 that gets each request's body, and an agent for it, until the test is over. */
async function pair (t, answer) {
  const server = await h2(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    answer(request, response, Buffer.concat(chunks))
  })
  const agent = new Agent({ connect })
  t.after(async () => { await agent.close(); await server.close() })
  return { server, agent }
}

test("AWS's client over UndiciHttpHandler: concurrent calls share a session, an error is AWS's own", async t => {
  const identity = '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>arn</Arn><UserId>user</UserId><Account>account</Account></GetCallerIdentityResult></GetCallerIdentityResponse>'
  const denied = '<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>'
  let isDenied = false
  const both = await pair(t, (request, response, body) => {
    assert.match(body.toString(), /^Action=GetCallerIdentity&/)
    assert.match(request.headers.authorization, /^AWS4-HMAC-SHA256 /)
    response.statusCode = isDenied ? 403 : 200
    response.setHeader('content-type', 'text/xml')
    response.end(isDenied ? denied : identity)
  })
  const client = new STSClient({
    region: 'eu-west-1',
    endpoint: both.server.url,
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    requestHandler: new UndiciHttpHandler({ dispatcher: both.agent })
  })
  const answers = await Promise.all(Array.from({ length: 50 }, () => client.send(new GetCallerIdentityCommand({}))))
  assert.ok(answers.every(answer => answer.Account === 'account'))
  // A second one only where this process stood still for longer than a connection's probe waits for its answer.
  assert.ok(both.server.counts.sessions <= 2, `${both.server.counts.sessions} sessions`)
  assert.equal(both.server.counts.requests, 50)
  isDenied = true
  await assert.rejects(client.send(new GetCallerIdentityCommand({})), { name: 'AccessDenied' })
  const aborted = client.send(new GetCallerIdentityCommand({}), { abortSignal: AbortSignal.abort() })
  await assert.rejects(aborted, { name: 'AbortError' })
})

test("axios' fetch adapter: JSON, a stream upward, progress, a status that is an error, an abort", async t => {
  const both = await pair(t, (request, response, body) => {
    if (request.url === '/never') return
    response.statusCode = request.url === '/missing' ? 404 : 200
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ method: request.method, type: request.headers['content-type'], body: body.toString() }))
  })
  const client = axios.create({ baseURL: both.server.url, adapter: 'fetch', env: { fetch: fetchOver(both.agent) } })
  const posted = await client.post('/', { a: 1 })
  assert.deepEqual(posted.data, { method: 'POST', type: 'application/json', body: '{"a":1}' })
  const streamed = await client.put('/', Readable.from([Buffer.from('piece '), Buffer.from('by piece')]))
  assert.equal(streamed.data.body, 'piece by piece')
  const form = new FormData()
  form.append('name', 'value')
  assert.match((await client.post('/', form)).data.body, /name="name"\r\n\r\nvalue/)
  await assert.rejects(client.get('/missing'), error => error.response.status === 404 && error.code === 'ERR_BAD_REQUEST')
  await assert.rejects(client.get('/never', { timeout: 50 }), { code: /^(ECONNABORTED|ETIMEDOUT)$/ })
  await assert.rejects(client.get('/never', { signal: AbortSignal.timeout(50) }), { code: 'ERR_CANCELED' })
  const all = await Promise.all(Array.from({ length: 50 }, () => client.get('/')))
  assert.ok(all.every(answer => answer.status === 200))
  assert.equal(both.server.counts.sessions, 1)
})

test('ky: JSON, its retries, its timeout', async t => {
  let failures = 2
  const both = await pair(t, (request, response, body) => {
    if (request.url === '/never') return
    response.statusCode = request.url === '/flaky' && failures-- > 0 ? 503 : 200
    response.end(JSON.stringify({ body: body.toString() }))
  })
  const client = ky.create({ prefixUrl: both.server.url, fetch: fetchOver(both.agent), retry: { limit: 3, delay: () => 1 } })
  assert.deepEqual(await client.post('', { json: { a: 1 } }).json(), { body: '{"a":1}' })
  assert.equal((await client.get('flaky')).status, 200)
  await assert.rejects(client.get('never', { timeout: 50, retry: 0 }), { name: 'TimeoutError' })
  assert.equal(both.server.counts.sessions, 1)
})

test('got, whose beforeRequest hook answers with ours: JSON, streams, retries, a status that is an error, an abort', async t => {
  let failures = 2
  const both = await pair(t, (request, response, body) => {
    if (request.url === '/never') return
    const status = { '/missing': 404, '/flaky': failures > 0 ? 503 : 200 }[request.url] ?? 200
    if (request.url === '/flaky') failures--
    response.statusCode = status
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ method: request.method, type: request.headers['content-type'], body: body.toString() }))
  })
  const answer = async ({ url, method, headers, body, signal }) => {
    const { origin, pathname, search } = url
    const asked = await both.agent.request({ origin, path: pathname + search, method, headers, body, signal })
    return Object.assign(asked.body, { statusCode: asked.statusCode, headers: asked.headers, complete: true })
  }
  const client = got.extend({ prefixUrl: both.server.url, hooks: { beforeRequest: [answer] }, retry: { limit: 3, calculateDelay: ({ computedValue }) => computedValue && 1 } })
  const posted = await client.post('', { json: { a: 1 } }).json()
  assert.deepEqual(posted, { method: 'POST', type: 'application/json', body: '{"a":1}' })
  const chunks = []
  for await (const chunk of client.stream('streamed')) chunks.push(chunk)
  assert.equal(JSON.parse(Buffer.concat(chunks)).method, 'GET')
  assert.equal((await client.get('flaky')).statusCode, 200)
  await assert.rejects(client.get('missing'), { name: 'HTTPError', code: 'ERR_NON_2XX_3XX_RESPONSE' })
  await assert.rejects(client.get('never', { signal: AbortSignal.timeout(50), retry: { limit: 0 } }), { name: /^(TimeoutError|AbortError|RequestError)$/ })
  const all = await Promise.all(Array.from({ length: 50 }, () => client.get('')))
  assert.ok(all.every(({ statusCode }) => statusCode === 200))
  assert.equal(both.server.counts.sessions, 1)
})

test("OpenAI's client: JSON, events as they come, a file", async t => {
  const both = await pair(t, (request, response, body) => {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/v1/files') {
      assert.match(request.headers['content-type'], /^multipart\/form-data; boundary=/)
      assert.match(body.toString(), /name="file"; filename="name.jsonl"/)
      return response.end(JSON.stringify({ id: 'file-1' }))
    }
    const asked = JSON.parse(body)
    if (!asked.stream) return response.end(JSON.stringify({ choices: [{ message: { content: asked.messages[0].content } }] }))
    response.setHeader('content-type', 'text/event-stream')
    for (const content of ['one', 'two']) response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  const client = new OpenAI({ baseURL: `${both.server.url}/v1`, apiKey: 'key', fetch: fetchOver(both.agent), maxRetries: 0 })
  const messages = [{ role: 'user', content: 'hello' }]
  const answer = await client.chat.completions.create({ model: 'm', messages })
  assert.equal(answer.choices[0].message.content, 'hello')
  const pieces = []
  for await (const { choices } of await client.chat.completions.create({ model: 'm', messages, stream: true })) pieces.push(choices[0].delta.content)
  assert.deepEqual(pieces, ['one', 'two'])
  const file = await client.files.create({ purpose: 'fine-tune', file: await toFile(Buffer.from('{}\n'), 'name.jsonl') })
  assert.equal(file.id, 'file-1')
  assert.equal(both.server.counts.sessions, 1)
})

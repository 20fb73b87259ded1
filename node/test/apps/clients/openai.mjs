import OpenAI, { toFile } from 'openai'

export function answer (request, response, body) {
  response.setHeader('content-type', 'application/json')
  response.setHeader('x-request-id', 'req-1')
  if (request.url === '/v1/files') return response.end(JSON.stringify({ id: 'file-1', object: 'file' }))
  if (request.url === '/v1/models') return response.end(JSON.stringify({ object: 'list', data: [{ id: 'm1' }, { id: 'm2' }] }))
  if (request.url === '/v1/files/file-1/content') return response.end('content '.repeat(50_000))
  const asked = body.length > 0 ? JSON.parse(body) : {}
  if (asked.model === 'refused') {
    response.statusCode = 401
    return response.end(JSON.stringify({ error: { message: 'bad key', type: 'invalid_request_error', code: 'invalid_api_key' } }))
  }
  if (asked.model === 'flaky' && request.headers['x-stainless-retry-count'] === '0') {
    response.statusCode = 503
    response.setHeader('retry-after-ms', '1')
    return response.end('{}')
  }
  if (!asked.stream) return response.end(JSON.stringify({ choices: [{ message: { content: asked.messages?.[0].content } }] }))
  response.setHeader('content-type', 'text/event-stream')
  for (const content of ['one', 'two', 'drei ä']) response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
  response.end('data: [DONE]\n\n')
}

export function calls ({ url, fetch }) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'key', fetch, maxRetries: 1 })
  const messages = [{ role: 'user', content: 'hello' }]
  return {
    'a completion': async () => (await client.chat.completions.create({ model: 'm', messages })).choices[0].message.content,
    'its response': async () => { const { response, request_id: id } = await client.chat.completions.create({ model: 'm', messages }).withResponse(); return [response.status, response.headers.get('x-request-id'), id] },
    'a stream': async () => { const all = []; for await (const { choices } of await client.chat.completions.create({ model: 'm', messages, stream: true })) all.push(choices[0].delta.content); return all },
    'a stream that is left': async () => { for await (const { choices } of await client.chat.completions.create({ model: 'm', messages, stream: true })) return choices[0].delta.content },
    'a refusal': async () => { try { await client.chat.completions.create({ model: 'refused', messages }) } catch (error) { return [error.constructor.name, error.status, error.code, error.message] } },
    'one that is tried again': async () => (await client.chat.completions.create({ model: 'flaky', messages })).choices[0].message.content,
    'a file upward': async () => (await client.files.create({ purpose: 'fine-tune', file: await toFile(Buffer.alloc(200_000, 'f'), 'name.jsonl') })).id,
    'a file downward': async () => (await (await client.files.content('file-1')).text()).length,
    'a list': async () => { const all = []; for await (const { id } of client.models.list()) all.push(id); return all },
    '50 at once': async () => (await Promise.all(Array.from({ length: 50 }, () => client.chat.completions.create({ model: 'm', messages })))).length,
    'one that is aborted': async () => { try { await client.chat.completions.create({ model: 'm', messages }, { signal: AbortSignal.abort() }) } catch (error) { return error.constructor.name } }
  }
}

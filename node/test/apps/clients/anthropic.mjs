import Anthropic from '@anthropic-ai/sdk'

const event = (type, rest) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`

export function answer (request, response, body) {
  response.setHeader('content-type', 'application/json')
  response.setHeader('request-id', 'req-1')
  const asked = body.length > 0 ? JSON.parse(body) : {}
  if (asked.model === 'refused') {
    response.statusCode = 400
    return response.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: 'no' } }))
  }
  const message = { id: 'msg-1', type: 'message', role: 'assistant', content: [], model: 'm', stop_reason: null, usage: { input_tokens: 1, output_tokens: 1 } }
  if (!asked.stream) return response.end(JSON.stringify({ ...message, content: [{ type: 'text', text: asked.messages[0].content }], stop_reason: 'end_turn' }))
  response.setHeader('content-type', 'text/event-stream')
  response.write(event('message_start', { message }))
  response.write(event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }))
  for (const text of ['one ', 'two ', 'ä']) response.write(event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }))
  response.write(event('content_block_stop', { index: 0 }))
  response.write(event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } }))
  response.end(event('message_stop', {}))
}

export function calls ({ url, fetch }) {
  const client = new Anthropic({ baseURL: url, apiKey: 'key', fetch, maxRetries: 0 })
  const asked = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hello' }] }
  return {
    'a message': async () => (await client.messages.create(asked)).content,
    'a stream': async () => { const all = []; for await (const { type } of await client.messages.create({ ...asked, stream: true })) all.push(type); return all },
    'a stream by its helper': async () => { const { content, stop_reason: why } = await client.messages.stream(asked).finalMessage(); return [content, why] },
    'a refusal': async () => { try { await client.messages.create({ ...asked, model: 'refused' }) } catch (error) { return [error.constructor.name, error.status, error.message, error.requestID] } },
    '50 at once': async () => (await Promise.all(Array.from({ length: 50 }, () => client.messages.create(asked)))).length
  }
}

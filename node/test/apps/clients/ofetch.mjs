import { createFetch } from 'ofetch'
export { answer } from './echo.mjs'

export function calls ({ url, fetch = globalThis.fetch }) {
  const client = createFetch({ fetch, Headers, AbortController, defaults: { baseURL: url, retryDelay: 1 } })
  const failure = error => [error.name, error.status]
  return {
    get: () => client('/echo', { query: { a: 1 } }),
    raw: async () => { const response = await client.raw('/echo'); return [response.status, response.headers.getSetCookie(), response._data] },
    post: () => client('/echo', { method: 'POST', body: { a: 'ä' } }),
    'a form': () => client('/echo', { method: 'POST', body: new URLSearchParams({ a: '1' }) }),
    'a stream upward': () => client('/echo', { method: 'PUT', body: new Blob(['one ', 'two']).stream(), duplex: 'half', retry: 0 }),
    'a large answer': async () => (await client('/large', { responseType: 'arrayBuffer' })).byteLength,
    'a blob': async () => (await client('/large', { responseType: 'blob' })).size,
    'a stream downward': async () => { let length = 0; for await (const part of await client('/large', { responseType: 'stream' })) length += part.length; return length },
    packed: () => client('/packed'),
    redirected: () => client('/away'),
    none: async () => String(await client('/none', { method: 'DELETE' })),
    'one that is tried again': () => client('/flaky', { retry: 1 }),
    refused: () => client('/echo?status=404').catch(failure),
    late: () => client('/never', { timeout: 100, retry: 0 }).catch(error => [error.name, error.cause?.name]),
    '50 at once': async () => (await Promise.all(Array.from({ length: 50 }, () => client('/echo')))).length
  }
}

import ky, { HTTPError } from 'ky'
export { answer } from './echo.mjs'

export function calls ({ url, fetch }) {
  const client = ky.create({ prefixUrl: url, ...fetch === undefined ? {} : { fetch }, retry: { limit: 2, delay: () => 1 } })
  const failure = error => [error.name, error instanceof HTTPError ? error.response.status : undefined]
  return {
    get: async () => { const response = await client.get('echo', { searchParams: { a: 1 } }); return [response.status, response.headers.get('x-back'), response.headers.getSetCookie(), await response.json()] },
    post: async () => await client.post('echo', { json: { a: 'ä' } }).json(),
    'a form': async () => await client.post('echo', { body: new URLSearchParams({ a: '1' }) }).json(),
    'a stream upward': async () => await client.put('echo', { body: new Blob(['one ', 'two']).stream(), duplex: 'half', retry: 0 }).json(),
    'a large answer': async () => (await client.get('large').arrayBuffer()).byteLength,
    packed: async () => await client.get('packed').json(),
    redirected: async () => { const response = await client.get('away'); return [response.redirected, new URL(response.url).pathname, await response.json()] },
    none: async () => (await client.delete('none')).status,
    head: async () => (await client.head('echo')).status,
    'one that is tried again': async () => await client.get('flaky').json(),
    refused: async () => await client.get('echo?status=404').catch(failure),
    late: async () => await client.get('never', { timeout: 100, retry: 0 }).catch(failure),
    aborted: async () => await client.get('never', { signal: AbortSignal.timeout(100), retry: 0 }).catch(failure),
    progress: async () => { let last; await client.get('large', { onDownloadProgress: ({ transferredBytes }) => { last = transferredBytes } }).arrayBuffer(); return last },
    '50 at once': async () => (await Promise.all(Array.from({ length: 50 }, () => client.get('echo')))).length
  }
}

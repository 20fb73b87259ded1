import got from 'got'
export { answer } from './echo.mjs'

/** got takes no `fetch`: a hook answers with a dispatcher's request. */
function hookOf (dispatcher) {
  return async ({ url: { origin, pathname, search }, method, headers, body, signal }) => {
    const { body: stream, statusCode, headers: fields } = await dispatcher.request({ origin, path: pathname + search, method, headers, body, signal })
    return Object.assign(stream, { statusCode, headers: fields, complete: true })
  }
}

export function calls ({ url, dispatcher }) {
  const client = got.extend({ prefixUrl: url, retry: { limit: 2, calculateDelay: ({ computedValue }) => computedValue && 1 }, ...dispatcher === undefined ? {} : { hooks: { beforeRequest: [hookOf(dispatcher)] } } })
  const failure = error => [error.name, error.code]
  return {
    get: async () => { const { statusCode, headers, body } = await client.get('echo', { searchParams: { a: 1 } }); return [statusCode, [headers['x-back']].flat().join(', '), headers['set-cookie'], body] },
    post: async () => await client.post('echo', { json: { a: 'ä' } }).json(),
    'a form': async () => await client.post('echo', { form: { a: '1' } }).json(),
    'a large answer': async () => (await client.get('large').buffer()).length,
    'a stream downward': async () => { let length = 0; for await (const chunk of client.stream('large')) length += chunk.length; return length },
    packed: async () => await client.get('packed').json(),
    redirected: async () => { const { redirectUrls, body } = await client.get('away'); return [redirectUrls.length, body] },
    none: async () => (await client.delete('none')).statusCode,
    head: async () => (await client.head('echo')).statusCode,
    'one that is tried again': async () => await client.get('flaky').json(),
    refused: async () => await client.get('echo?status=404').catch(failure),
    aborted: async () => (await client.get('never', { signal: AbortSignal.timeout(100), retry: { limit: 0 } }).catch(failure)).length,
    '50 at once': async () => (await Promise.all(Array.from({ length: 50 }, () => client.get('echo')))).length
  }
}

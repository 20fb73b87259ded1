// got over HTTP/2, by http2-wrapper.
import got from 'got'
export { start } from './h2_echo.mjs'

export function cases ({ ports, control, tls }) {
  const client = got.extend({ prefixUrl: `https://localhost:${ports.tls}`, http2: true, https: { certificateAuthority: tls.cert }, retry: { limit: 2, calculateDelay: ({ computedValue }) => computedValue && 1 } })
  const failure = error => [error.name, error.code]
  return {
    get: async () => { const { statusCode, headers, body } = await client.get('echo', { searchParams: { a: 1 } }); return [statusCode, [headers['x-back']].flat().join(', '), headers['set-cookie'], body] },
    post: async () => await client.post('echo', { json: { a: 'ä' } }).json(),
    'a form': async () => await client.post('echo', { form: { a: '1' } }).json(),
    'a large body': async () => await client.post('echo', { body: Buffer.alloc(1_000_000) }).json(),
    'a large answer': async () => (await client.get('large').buffer()).length,
    'a stream downward': async () => { let length = 0; for await (const chunk of client.stream('large')) length += chunk.length; return length },
    packed: async () => await client.get('packed').json(),
    redirected: async () => { const { redirectUrls, body } = await client.get('away'); return [redirectUrls.length, body] },
    none: async () => (await client.delete('none')).statusCode,
    head: async () => (await client.head('echo')).statusCode,
    'one that is tried again': async () => await client.get('flaky').json(),
    refused: async () => await client.get('echo?status=404').catch(failure),
    reset: async () => await client.get('reset', { retry: { limit: 0 } }).catch(failure),
    aborted: async () => [(await client.get('never', { signal: AbortSignal.timeout(200), retry: { limit: 0 } }).catch(failure)).length, await control('aborted')],
    'a timeout': async () => await client.get('never', { timeout: { response: 200 }, retry: { limit: 0 } }).catch(failure),
    '50 at once': async () => (await Promise.all(Array.from({ length: 50 }, () => client.get('echo')))).length,
    'behind GOAWAY': async () => { await client.get('last'); return await client.get('echo').json() }
  }
}

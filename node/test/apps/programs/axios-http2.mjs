// axios over HTTP/2 (`httpVersion: 2`).
import axios from 'axios'
export { start } from './h2_echo.mjs'

export function cases ({ ports, control, tls }) {
  const client = axios.create({ baseURL: `https://localhost:${ports.tls}`, httpVersion: 2, http2Options: { ca: tls.cert, sessionTimeout: 5000 } })
  const failure = error => [error.name, error.code, error.response?.status ?? null]
  return {
    get: async () => { const { status, headers, data } = await client.get('/echo', { params: { a: 1 } }); return [status, headers['x-back'], headers['set-cookie'], data] },
    post: async () => (await client.post('/echo', { a: 'ä' })).data,
    'a form': async () => (await client.post('/echo', new URLSearchParams({ a: '1' }))).data,
    'a large body': async () => (await client.post('/echo', Buffer.alloc(1_000_000))).data,
    'a large answer': async () => (await client.get('/large', { responseType: 'arraybuffer' })).data.length,
    'a stream downward': async () => { let length = 0; for await (const chunk of (await client.get('/large', { responseType: 'stream' })).data) length += chunk.length; return length },
    packed: async () => (await client.get('/packed')).data,
    none: async () => (await client.delete('/none')).status,
    head: async () => (await client.head('/echo')).status,
    refused: async () => await client.get('/echo?status=404').catch(failure),
    reset: async () => await client.get('/reset').catch(failure),
    aborted: async () => [await client.get('/never', { signal: AbortSignal.timeout(200) }).catch(failure), await control('aborted')],
    'a timeout': async () => await client.get('/never', { timeout: 200 }).catch(failure),
    '50 at once': async () => (await Promise.all(Array.from({ length: 50 }, () => client.get('/echo')))).length,
    'one session for all': async () => await control('sessions')
  }
}

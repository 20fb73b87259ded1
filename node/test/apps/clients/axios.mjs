import { Readable } from 'node:stream'
import axios from 'axios'
export { answer } from './echo.mjs'

export function calls ({ url, fetch }) {
  const adapter = fetch === undefined ? { adapter: 'fetch' } : { adapter: 'fetch', env: { fetch } }
  const client = axios.create({ baseURL: url, ...adapter })
  const form = () => { const all = new FormData(); all.append('name', 'value'); all.append('file', new Blob(['file']), 'f.txt'); return all }
  const failure = error => [error.name, error.code, error.response?.status]
  return {
    get: async () => { const { data, headers, status } = await client.get('/echo', { params: { a: 1, b: ['x', 'y'] } }); return [status, data, headers['x-back']] },
    post: async () => (await client.post('/echo', { a: 'ä' })).data,
    'a form': async () => (await client.post('/echo', new URLSearchParams({ a: '1' }))).data,
    'a multipart form': async () => { const { data } = await client.post('/echo', form()); return [data.type, data.length > 100] },
    'a stream upward': async () => (await client.put('/echo', Readable.toWeb(Readable.from([Buffer.from('one '), Buffer.from('two')])))).data,
    'a large answer': async () => (await client.get('/large', { responseType: 'arraybuffer' })).data.byteLength,
    packed: async () => (await client.get('/packed')).data,
    redirected: async () => (await client.get('/away')).data,
    none: async () => (await client.delete('/none')).status,
    head: async () => (await client.head('/echo')).status,
    refused: async () => await client.get('/echo?status=404').catch(failure),
    late: async () => await client.get('/never', { timeout: 100 }).catch(failure),
    aborted: async () => await client.get('/never', { signal: AbortSignal.timeout(100) }).catch(failure),
    '50 at once': async () => (await Promise.all(Array.from({ length: 50 }, () => client.get('/echo')))).length
  }
}

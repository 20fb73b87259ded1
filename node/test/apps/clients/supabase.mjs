import { createClient } from '@supabase/supabase-js'

export function answer (request, response, body) {
  const { pathname, searchParams } = new URL(request.url, 'https://api.test')
  const json = (value, status = 200, fields = {}) => { response.writeHead(status, { 'content-type': 'application/json', ...fields }).end(JSON.stringify(value)) }
  if (pathname === '/rest/v1/rows' && request.method === 'HEAD') return response.writeHead(200, { 'content-range': '0-9/42' }).end()
  if (pathname === '/rest/v1/rows' && request.method === 'GET') return json([{ id: 1, query: [...searchParams] }], 206, { 'content-range': '0-0/42' })
  if (pathname === '/rest/v1/rows' && request.method === 'DELETE') return response.writeHead(204).end()
  if (pathname === '/rest/v1/rows') return json([{ method: request.method, sent: JSON.parse(body), prefer: request.headers.prefer }], 201)
  if (pathname === '/rest/v1/rpc/sum') return json(JSON.parse(body).a + 1)
  if (pathname === '/storage/v1/object/files/f.bin' && request.method === 'POST') return json({ Key: 'files/f.bin', Id: '1' })
  if (pathname === '/storage/v1/object/files/f.bin') return response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(Buffer.alloc(200_000, 'f'))
  if (pathname === '/functions/v1/hello') return json({ hello: JSON.parse(body).name })
  json({ code: '42P01', message: 'relation does not exist', details: null, hint: null }, 404)
}

export function calls ({ url, fetch }) {
  const client = createClient(url, 'key', { ...fetch === undefined ? {} : { global: { fetch } }, auth: { persistSession: false, autoRefreshToken: false } })
  return {
    select: async () => { const { data, count, status } = await client.from('rows').select('id', { count: 'exact' }).eq('name', 'größe').range(0, 0); return [data, count, status] },
    count: async () => (await client.from('rows').select('*', { count: 'exact', head: true })).count,
    insert: async () => (await client.from('rows').insert({ name: 'größe' }).select()).data,
    delete: async () => (await client.from('rows').delete().eq('id', 1)).status,
    call: async () => (await client.rpc('sum', { a: 1 })).data,
    'a file upward': async () => (await client.storage.from('files').upload('f.bin', Buffer.alloc(200_000, 'f'))).error,
    'a file downward': async () => (await client.storage.from('files').download('f.bin')).data.size,
    'a function': async () => (await client.functions.invoke('hello', { body: { name: 'you' } })).data,
    'not there': async () => (await client.from('none').select()).error,
    '50 at once': async () => (await Promise.all(Array.from({ length: 50 }, () => client.from('rows').select()))).length
  }
}

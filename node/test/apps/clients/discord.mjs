import { REST } from '@discordjs/rest'
import { request } from 'undici'

/** Every second request for it is within its limit. */
let limited = 0

export function answer (request, response) {
  const { pathname } = new URL(request.url, 'https://discord.test')
  const json = (value, status = 200, headers = {}) => { response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value)) }
  if (pathname.endsWith('/never')) return
  if (pathname.endsWith('/limited') && ++limited % 2 === 1) return json({ message: 'too many', retry_after: 0.01, global: false }, 429, { 'retry-after': '0.01' })
  if (pathname.endsWith('/invalid')) return json({ code: 50035, message: 'Invalid Form Body', errors: {} }, 400)
  if (pathname.endsWith('/none')) return response.writeHead(204).end()
  json({ path: pathname, method: request.method, reason: request.headers['x-audit-log-reason'] ?? null })
}

export const ignored = ['user-agent']

export function calls ({ url, dispatcher }) {
  const rest = new REST({ api: url, version: '10', timeout: 10_000, retries: 1, hashSweepInterval: 0, handlerSweepInterval: 0, ...dispatcher === undefined ? {} : { agent: dispatcher } }).setToken('token')
  const failure = error => [error.name, error.code ?? null, error.status ?? null]
  return {
    get: () => rest.get('/users/1', { query: new URLSearchParams({ a: '1' }) }),
    post: () => rest.post('/channels/1/messages', { body: { content: 'ä' }, reason: 'größe' }),
    'a limit that is waited for': () => rest.get('/limited'),
    invalid: () => rest.post('/invalid', { body: {} }).catch(failure),
    none: async () => String(await rest.delete('/none')),
    aborted: () => rest.get('/never', { signal: AbortSignal.timeout(100) }).catch(error => error.name),
    '50 at once': async () => (await Promise.all(Array.from({ length: 50 }, (_, at) => rest.get(`/guilds/${at}`)))).length,
    'undici beside it': async () => (await request(`${url}/none`, dispatcher === undefined ? {} : { dispatcher })).statusCode
  }
}

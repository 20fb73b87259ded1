// fetch-h2, whose context keeps a session for each origin.
import { createRequire } from 'node:module'
export { start } from './h2_echo.mjs'

const { AbortController, context } = createRequire(import.meta.url)('fetch-h2')

export function cases ({ ports, control, tls }) {
  const origin = `https://localhost:${ports.tls}`
  const { fetch, disconnectAll } = context({ session: { ca: tls.cert } })
  // Its messages have the URL, and its port.
  const failure = error => [error.name, error.message.replaceAll(`${ports.tls}`, 'PORT')]
  return {
    get: async () => { const response = await fetch(`${origin}/echo?a=1`); return [response.status, response.httpVersion, response.headers.get('x-back'), await response.json()] },
    post: async () => await (await fetch(`${origin}/echo`, { method: 'POST', json: { a: 'ä' } })).json(),
    'a large body': async () => await (await fetch(`${origin}/echo`, { method: 'POST', body: Buffer.alloc(1_000_000) })).json(),
    'a large answer': async () => (await (await fetch(`${origin}/large`)).arrayBuffer()).byteLength,
    packed: async () => await (await fetch(`${origin}/packed`)).json(),
    'redirected by hand': async () => { const response = await fetch(`${origin}/away`, { redirect: 'manual' }); return [response.status, response.headers.get('location')] },
    redirected: async () => await (await fetch(`${origin}/away`, { redirect: 'follow' })).json(),
    none: async () => (await fetch(`${origin}/none`, { method: 'DELETE' })).status,
    reset: async () => await fetch(`${origin}/reset`).then(response => response.status, failure),
    'a timeout': async () => await fetch(`${origin}/never`, { timeout: 200 }).catch(failure),
    aborted: async () => {
      await control('aborted')
      const ender = new AbortController()
      setTimeout(() => { ender.abort() }, 200)
      return [await fetch(`${origin}/never`, { signal: ender.signal }).catch(failure), await control('aborted')]
    },
    'behind its end': async () => { await disconnectAll(); return (await fetch(`${origin}/echo`)).status }
  }
}

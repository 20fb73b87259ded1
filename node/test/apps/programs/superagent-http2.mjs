// superagent over HTTP/2 (`.http2()`).
import request from 'superagent'
export { start } from './h2_echo.mjs'

export function cases ({ ports, control, tls }) {
  const origin = `https://localhost:${ports.tls}`
  const ask = (method, path) => request(method, origin + path).http2().ca(tls.cert)
  const failure = error => [error.name, error.code, error.timeout, error.status]
  return {
    get: async () => { const { status, headers, body } = await ask('GET', '/echo').query({ a: 1 }); return [status, headers['x-back'], headers['set-cookie'], body] },
    post: async () => (await ask('POST', '/echo').send({ a: 'ä' })).body,
    'a form': async () => (await ask('POST', '/echo').type('form').send({ a: '1' })).body,
    'a large body': async () => (await ask('POST', '/echo').type('application/octet-stream').send(Buffer.alloc(1_000_000))).body,
    'a large answer': async () => (await ask('GET', '/large').buffer(true).parse(request.parse.text)).text.length,
    packed: async () => (await ask('GET', '/packed')).body,
    redirected: async () => { const { redirects, body } = await ask('GET', '/away'); return [redirects.length, body] },
    none: async () => (await ask('DELETE', '/none')).status,
    head: async () => (await ask('HEAD', '/echo')).status,
    'one that is tried again': async () => (await ask('GET', '/flaky').retry(1)).body,
    refused: async () => await ask('GET', '/echo?status=404').catch(failure),
    reset: async () => await ask('GET', '/reset').catch(failure),
    'a timeout': async () => await ask('GET', '/never').timeout({ response: 200 }).catch(failure),
    aborted: async () => {
      // That of the timeout.
      await control('aborted')
      const asked = ask('GET', '/never')
      const over = new Promise(resolve => { asked.on('abort', resolve) })
      asked.end()
      setTimeout(() => { asked.abort() }, 200)
      await over
      return await control('aborted')
    },
    '50 at once': async () => (await Promise.all(Array.from({ length: 50 }, () => ask('GET', '/echo')))).length
  }
}

import { toNodeHandler } from 'srvx/node'

export async function fetch (request) {
  const url = new URL(request.url)
  switch (url.pathname) {
    case '/json': return Response.json({ method: request.method, path: url.pathname + url.search, agent: request.headers.get('user-agent') })
    case '/echo': return new Response(request.body, { status: 201, headers: { 'content-type': request.headers.get('content-type') ?? 'none' } })
    case '/text': return new Response(await request.text(), { headers: { 'content-type': 'text/plain' } })
    case '/form': return Response.json([...await request.formData()].map(([name, value]) => [name, value.size ?? value]))
    case '/stream': return new Response(new ReadableStream({ pull (controller) { this.count = (this.count ?? 0) + 1; this.count > 3 ? controller.close() : controller.enqueue(new TextEncoder().encode(`${this.count} `)) } }), { headers: { 'content-type': 'text/plain' } })
    case '/cookies': { const headers = new Headers({ 'x-a': '1' }); headers.append('set-cookie', 'a=1'); headers.append('set-cookie', 'b=2'); return new Response(null, { status: 204, headers }) }
    case '/away': return Response.redirect(new URL('/json', url), 307)
    case '/blob': return new Response(new Blob(['blob'], { type: 'text/css' }))
    default: return new Response('nowhere', { status: 404, statusText: 'Not Here', headers: { 'content-type': 'text/plain' } })
  }
}

export function start ({ create }) { return create(toNodeHandler(fetch)) }

const form = '--xx\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--xx\r\ncontent-disposition: form-data; name="file"; filename="f.bin"\r\n\r\nfile\r\n--xx--\r\n'

export const requests = [
  { path: '/json?a=1', headers: { 'user-agent': 'row' } }, { path: '/echo', method: 'POST', headers: { 'content-type': 'text/x' }, body: 'e'.repeat(300_000) },
  { path: '/text', method: 'PUT', body: 'ä'.repeat(1000) }, { path: '/form', method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=xx' }, body: form },
  { path: '/stream' }, { path: '/cookies' }, { path: '/away' }, { path: '/blob' }, { path: '/nowhere' }, { path: '/json', method: 'HEAD' }
]

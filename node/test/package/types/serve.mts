// `serve` as programs for Bun.serve write it, by the types alone.
import { file, Response as Lean, serve, type RouteRequest, type ServeOptions, type Server, type ServerWebSocket, type SocketAddress } from 'trunkline'

interface Session { user: string }

const server: Server<Session> = serve<Session>({
  port: process.env['PORT'] ?? 3000,
  hostname: 'localhost',
  development: true,
  idleTimeout: 10,
  maxRequestBodySize: 1024,
  tls: 'self-signed',
  async fetch (request, server) {
    const address: SocketAddress | null = server.requestIP(request)
    if (server.upgrade(request, { data: { user: address?.address ?? '' }, headers: { 'set-cookie': 'a=b' } })) return
    // @ts-expect-error: data is a Session
    server.upgrade(request, { data: { user: 5 } })
    server.timeout(request, 60)
    const [incoming, socket, head] = server.upgrade()
    socket.end(head)
    void incoming.headers
    const own: number = this.pendingRequests + server.pendingWebSockets
    return new Response(`${own} ${await request.text()}`)
  },
  error (error) { return new Response(String(error.message), { status: 500 }) },
  websocket: {
    open (ws) {
      ws.subscribe(ws.data.user)
      // @ts-expect-error: a Session has no name
      ws.data.name
    },
    message (ws: ServerWebSocket<Session>, message: string | Buffer) {
      const status: number = ws.send(message)
      if (status === -1) ws.cork(own => own.publish('all', 'waits'))
    },
    close (ws, code, reason) { server.publish(ws.data.user, `${code.toFixed()} ${reason}`) },
    drain (ws) { ws.ping() },
    idleTimeout: 60,
    maxPayloadLength: 1024,
    perMessageDeflate: true
  }
})

const routed = serve({
  routes: {
    '/': new Response('front'),
    '/file': new Lean(file('a.html', { type: 'text/html' })),
    '/off': false,
    '/users/:id': request => new Response(request.params.id.toUpperCase()),
    '/users/:id/posts/:post': async (request, info) => Lean.json([request.params.id, request.params.post, info.protocol, request.headers.get('a')]),
    '/api/*': {
      GET: request => new Response(request.url),
      POST: new Response('written'),
      async PUT (request) { return new Response(await request.text()) }
    },
    // @ts-expect-error: the path names an id alone
    '/posts/:id': request => new Response(request.params.name),
    '/wrong': {
      // @ts-expect-error: a route gives a Response
      GET: () => 5
    }
  },
  static: { '/assets': { folder: 'assets', index: false, headers: { 'cache-control': 'max-age=60' } }, '/': 'public' }
})

const own: RouteRequest<'/a/:b/:c'>['params'] = { b: '', c: '' }
const inferred = serve({ fetch: (request, info) => new Lean(`${request.method} ${info.servername}`), static: 'public' })
const changed: Server = inferred.reload({ fetch: () => new Response('') })
const options: ServeOptions = { fetch: () => new Lean('') }
// @ts-expect-error: there is no such option
serve({ fetch: () => new Response(''), prot: 1 })
// @ts-expect-error: a handler gives a Response
serve({ fetch: () => 'text' })

export async function ended (): Promise<URL> {
  await routed.stop(true)
  await Promise.all([server.stop(), changed.close({ deadlineMs: 1 }), serve(options).destroy()])
  return new URL('/x', server.url)
}
export { own }

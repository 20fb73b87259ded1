// Serves the corpus of web-platform-tests: its handlers, and its files with what is filled into them.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { Response, serve } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'
import { handled } from './handlers.mjs'
import { listenBefore } from './raw.mjs'

const TYPES = { '.js': 'text/javascript', '.json': 'application/json', '.html': 'text/html', '.txt': 'text/plain', '.css': 'text/css', '.png': 'image/png', '.xml': 'text/xml' }

/** Fills in what stands between braces, as wptserve does in `.sub.` files. */
export function filled (text, ports) {
  return text
    .replace(/\{\{ports\[(\w+)\]\[(\d)\]\}\}/g, (_, scheme, index) => String(ports[scheme]?.[Number(index)] ?? 1))
    .replace(/\{\{(?:host|domains\[\]|location\[hostname\])\}\}/g, 'localhost')
    .replace(/\{\{(?:domains|hosts)\[[^}]*\}\}/g, '127.0.0.1')
    .replace(/\{\{location\[(?:host|server)\]\}\}/g, `localhost:${ports.http[0]}`)
}

function headersOf (path) {
  const headers = []
  if (!existsSync(`${path}.headers`)) return headers
  for (const line of readFileSync(`${path}.headers`, 'latin1').split(/\r?\n/)) {
    const at = line.indexOf(':')
    if (at > 0) headers.push([line.slice(0, at), line.slice(at + 1).trim()])
  }
  return headers
}

/** Servers for the corpus in `folder`, two in cleartext and two over TLS; the ports by scheme. */
export async function start (folder) {
  const ports = { http: [], https: [] }
  const fetch = async (request, info) => {
    const url = new URL(request.url)
    const answer = await handled(request, url)
    if (answer !== undefined) return answer
    const path = join(folder, decodeURIComponent(url.pathname))
    if (!path.startsWith(folder) || !existsSync(path) || !statSync(path).isFile()) return new Response('not found', { status: 404 })
    const bytes = readFileSync(path)
    const headers = headersOf(path)
    if (!headers.some(([name]) => name.toLowerCase() === 'content-type')) headers.push(['content-type', TYPES[extname(path)] ?? 'text/plain'])
    return new Response(path.includes('.sub.') ? filled(bytes.toString(), ports) : bytes, { headers })
  }
  const options = { hostname: '127.0.0.1', port: 0, fetch, error: error => new Response(String(error?.stack), { status: 500 }) }
  const servers = [serve(options), serve(options), serve({ ...options, tls: { cert, key } }), serve({ ...options, tls: { cert, key } })]
  const [one, other, ...secure] = servers
  const before = await Promise.all([one, other].map(server => listenBefore(folder, server.port)))
  for (const listener of before) ports.http.push(listener.address().port)
  for (const server of secure) ports.https.push(server.port)
  const stop = async () => {
    for (const listener of before) listener.close()
    await Promise.all(servers.map(server => server.close({ deadlineMs: 0 })))
  }
  return { ports, stop }
}

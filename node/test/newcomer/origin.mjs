// Answers for example.org in the namespaces of `newcomer.mjs`: HTTP/1.1, HTTP/2 and HTTP/3 at 443, HTTP/1.1 at 80.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const { serve, Response } = createRequire(join(process.cwd(), 'package.json'))('trunkline')
const tls = { cert: readFileSync('cert.pem', 'utf8'), key: readFileSync('key.pem', 'utf8') }
const fetch = async request => {
  const { pathname } = new URL(request.url)
  if (pathname.startsWith('/events')) return new Response('id: 1\ndata: hello\n\n', { headers: { 'content-type': 'text/event-stream' } })
  if (request.method !== 'GET') return new Response(await request.text())
  return new Response('<!doctype html><title>Example</title>\n', { headers: { 'content-type': 'text/html' } })
}
serve({ port: 443, tls, http3: true, fetch })
serve({ port: 80, fetch })
console.log('ready')

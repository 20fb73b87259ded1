// A server that takes the place of the one before it at a path, and gives its own to the next.
//   node successor.mjs FORM PLACE PATH
// FORM: `serve`, or `secure` and `plain` of node:http2's. PLACE: where it listens, in JSON; PATH: where the processes meet. It prints its
// port, or why it does not listen; it ends by itself when another has taken its place and what was open is over.
import { certFile, keyFile } from '../certificates/certificate.mjs'
import { readFileSync } from 'node:fs'
import { Response, createSecureServer, createServer, serve } from 'trunkline'

const [form, place, handOver] = process.argv.slice(2)
const given = JSON.parse(place)
const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
const { pid } = process

process.on('warning', ({ message, code }) => { if (code === 'TRUNKLINE_HAND_OVER') console.log(JSON.stringify({ warning: message, code })) })

function answer (request, response) {
  response.setHeader('x-process', String(pid))
  if (request.method === 'GET') response.end('ok')
  else request.pipe(response)
}

try {
  if (form === 'serve') {
    const fetch = request => new Response(request.method === 'GET' ? 'ok' : request.body, { headers: { 'x-process': String(pid) } })
    const server = serve({ ...given, tls, http3: true, handOver, fetch })
    console.log(JSON.stringify({ port: server.port }))
    const replaced = await server.handOver()
    await server.closed
    console.log(JSON.stringify({ replaced }))
  } else {
    const server = form === 'secure' ? createSecureServer({ ...tls, http3: true, allowHTTP1: true, handOver }, answer) : createServer({ handOver }, answer)
    server.on('error', error => { console.log(JSON.stringify({ error: error.message })) })
    server.listen(given, async () => {
      console.log(JSON.stringify({ port: server.address()?.port }))
      const replaced = await server.handOver()
      console.log(JSON.stringify({ replaced }))
    })
  }
} catch (error) {
  console.log(JSON.stringify({ error: error.message }))
}

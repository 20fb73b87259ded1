// A server on its descriptors 3 (TCP) and 4 (UDP), until its standard input ends.
//   node activated.mjs FORM
// FORM: `serve`, `secure` (of node:http2's), `tcp-alone` (without HTTP/3) or `twice` (the TCP socket as both).
import { certFile, keyFile } from '../certificates/certificate.mjs'
import { fstatSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { Response, createSecureServer, serve } from 'trunkline'

/** The names of the versions as of `info.protocol`. */
const NAMES = { '1.1': 'http/1.1', '2.0': 'h2', '3.0': 'h3' }

const form = process.argv[2]
const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
const inode = fd => {
  try {
    return fstatSync(fd).ino
  } catch {
    return undefined
  }
}
const before = [inode(3), inode(4)]
let close
try {
  if (form === 'secure') {
    const server = createSecureServer({ ...tls, http3: true, allowHTTP1: true, udpFd: 4 }, (request, response) => { response.end(NAMES[request.httpVersion]) })
    await once(server.listen({ fd: 3 }), 'listening')
    console.log(`listening ${server.address().port}`)
    close = () => once(server.close(), 'close')
  } else {
    const fetch = (_, { protocol }) => new Response(protocol)
    const server = serve({ fd: 3, udpFd: form === 'twice' ? 3 : 4, tls, http3: form !== 'tcp-alone', fetch })
    console.log(`listening ${server.port}`)
    close = () => server.close()
  }
  await once(process.stdin.resume(), 'end')
  await close()
  console.log('closed', before[0] !== inode(3), before[1] !== inode(4))
} catch (error) {
  console.log('refused', error.message)
}
process.stdin.destroy()

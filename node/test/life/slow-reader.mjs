// Downloads so many bytes into a reader that is slower than the network; prints by how many MiB the
// process grew at most over what it had after a download of 64 MiB.
// node slow-reader.mjs URL PROTOCOL BYTES
import { readFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Agent, request } from 'trunkline'
import { certFile } from '../support/certificate.mjs'

const [url, protocol, bytes] = process.argv.slice(2)
const over = { h1: { allowH2: false }, h2: {}, h3: { http3: 'only' } }[protocol]
const dispatcher = new Agent({ connect: { ca: readFileSync(certFile) }, ...over })

/** Rests for a millisecond after each `pace` bytes; resolves to how much it got. */
async function download (bytes, pace, seen = () => {}) {
  let [got, rested] = [0, 0]
  const { body } = await request(`${url}/bytes/${bytes}`, { dispatcher })
  await pipeline(body, new Writable({
    write (chunk, _, done) {
      got += chunk.length
      if (got - rested < pace) return done()
      rested = got
      seen()
      setTimeout(done, 1)
    }
  }))
  return got
}

await download(64 * 2 ** 20, 2 ** 20)
const before = process.memoryUsage.rss()
let most = before
const got = await download(Number(bytes), 256 * 1024, () => { most = Math.max(most, process.memoryUsage.rss()) })
if (got !== Number(bytes)) throw new Error(`${got} bytes instead of ${bytes}`)
console.log(((most - before) / 2 ** 20).toFixed(1))
process.exit(0)

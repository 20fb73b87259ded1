// Downloads BYTES into a reader that is slower than the network; prints the most bytes that the
// server had sent beyond those read. node slow-reader.mjs URL PROTOCOL BYTES
import { readFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Agent, request } from 'trunkline'
import { certFile } from '../../support/certificates/certificate.mjs'

const [url, protocol, bytes] = process.argv.slice(2)
const over = { h1: { allowH2: false }, h2: {}, h3: { http3: 'only' } }[protocol]
const connect = { ca: readFileSync(certFile) }
const dispatcher = new Agent({ connect, ...over })
// On connections of its own: nothing of the download stands before it.
const counting = new Agent({ connect })

/** Bytes of long bodies that the server's connections have taken in its life. */
async function taken () {
  const { body } = await request(`${url}/counts`, { dispatcher: counting })
  return (await body.json()).taken
}

/** Rests after each `rate` bytes, for as long as `rest` takes; resolves to how much it got. */
async function download (bytes, rate, rest) {
  let [got, rested] = [0, 0]
  const { body } = await request(`${url}/bytes/${bytes}`, { dispatcher })
  await pipeline(body, new Writable({
    write (chunk, _, done) {
      got += chunk.length
      if (got - rested < rate) return done()
      rested = got
      rest(got).then(() => done(), done)
    }
  }))
  return got
}

const pause = () => new Promise(resolve => { setTimeout(resolve, 1) })
await download(64 * 2 ** 20, 2 ** 20, pause)
const before = await taken()
let most = 0
const got = await download(Number(bytes), 256 * 1024, async got => {
  // Read at most as much as this before the server is asked.
  most = Math.max(most, await taken() - before - got)
})
if (got !== Number(bytes)) throw new Error(`${got} bytes instead of ${bytes}`)
console.log(most)
process.exit(0)

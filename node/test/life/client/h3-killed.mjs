// A client on HTTP/3 that stands in the middle of uploads beside whole requests, says so, and waits to be killed.
// node h3-killed.mjs URL UPLOADS REQUESTS
import { Agent } from 'trunkline'
import { cert } from '../../support/certificates/certificate.mjs'

const [url, uploads, requests] = process.argv.slice(2)
const dispatcher = new Agent({ http3: 'only', connect: { ca: cert } })
async function * begun () {
  yield Buffer.from('body')
  await new Promise(() => {})
}
// The end of its parent ends it too.
process.stdin.resume().on('end', () => { process.exit() })
for (let at = 0; at < Number(uploads); at++) dispatcher.request({ origin: url, path: '/', method: 'POST', body: begun() }).catch(error => { console.error(error) })
const answers = await Promise.all(Array.from({ length: Number(requests) }, () => dispatcher.request({ origin: url, path: '/', method: 'POST', body: 'whole' })))
console.log(answers.map(({ statusCode }) => statusCode).join(' '))

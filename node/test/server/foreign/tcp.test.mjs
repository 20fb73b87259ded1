// Every form of a server, asked over TCP by clients that are not Node.js's own: curl and undici.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Agent as Undici, request } from 'undici7'
import { faces, withServer } from '../behaviour/faces.mjs'
import { BIG, digest } from '../behaviour/sizes.mjs'
import { cert, certFile } from '../../support/certificates/certificate.mjs'
import { versions } from '../../support/clients/clients.mjs'
import { curl, printed } from '../../support/clients/peers.mjs'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-foreign-'))
const big = join(folder, 'big')
writeFileSync(big, BIG)
after(() => { rmSync(folder, { recursive: true }) })

const HTTP_VERSION = { 'http/1.1': '1.1', h2: '2.0', h3: '3.0' }
/** The arguments of curl and undici for a version; undici has HTTP/2 over TLS alone. */
const ways = {
  h1: { curl: ['--http1.1'], undici: {} },
  'h1 over TLS': { curl: ['--http1.1', '--cacert', certFile], undici: { connect: { ca: cert } } },
  h2c: { curl: ['--http2-prior-knowledge'] },
  h2: { curl: ['--http2', '--cacert', certFile], undici: { connect: { ca: cert }, allowH2: true } }
}

for (const version of versions) {
  for (const face of Object.keys(faces)) {
    if (face === 'core' && version.protocol === 'http/1.1') continue
    const way = ways[version.name]

    test(`${version.name}, ${face}: curl gets, heads and uploads`, { skip: way === undefined ? 'this curl has no HTTP/3' : curl.why }, () => withServer(face, version, async url => {
      const ask = async (...args) => String(await printed('curl', ['--silent', '--show-error', '--fail', '-4', ...way.curl, ...args]))
      assert.equal(await ask(`${url}/version`), `HTTP/${HTTP_VERSION[version.protocol]}`)
      assert.match(await ask('--head', `${url}/five`), /^HTTP\/[^]*content-length: 5\r\n/i)
      // With `expect: 100-continue`, where curl sends it.
      assert.equal(await ask('--data-binary', `@${big}`, `${url}/digest`), digest(BIG))
      const down = await printed('curl', ['--silent', '--fail', '-4', ...way.curl, `${url}/big`])
      assert.ok(down.equals(BIG))
      // Two of one connection. curl 7.88 says its preface again where HTTP/2 is by prior knowledge.
      if (version.name !== 'h2c') assert.equal(await ask(`${url}/five`, `${url}/five`), 'hellohello')
    }))

    test(`${version.name}, ${face}: undici gets and uploads`, { skip: way?.undici === undefined && 'undici does not speak it' }, () => withServer(face, version, async url => {
      const dispatcher = new Undici(way.undici)
      const ask = async (path, options) => {
        const { statusCode, body } = await request(`${url}${path}`, { dispatcher, ...options })
        return [statusCode, await body.text()]
      }
      assert.deepEqual(await ask('/version'), [200, `HTTP/${HTTP_VERSION[version.protocol]}`])
      assert.deepEqual(await ask('/digest', { method: 'POST', body: BIG }), [200, digest(BIG)])
      assert.equal((await ask('/nowhere'))[0], 404)
      const many = await Promise.all(Array.from({ length: 50 }, () => ask('/five')))
      assert.ok(many.every(([status, text]) => status === 200 && text === 'hello'))
      await dispatcher.destroy()
    }))
  }
}

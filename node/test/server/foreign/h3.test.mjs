// Every form of a server, asked over HTTP/3 by foreign clients: aioquic and quic-go.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { faces, withServer } from '../behaviour/faces.mjs'
import { versions } from '../../support/clients/clients.mjs'
import { stacks } from '../../support/clients/peers.mjs'

const h3 = versions.find(({ name }) => name === 'h3')
const cases = {
  get: /200 HTTP\/3\.0\n$/,
  echo: /^same: true\n$/,
  trailers: /^body theirs\n$/,
  continue: /^interim 100\n200 5\n$/,
  reset: /^reset 0x1[^]*again 1024/,
  cancel: /gone\n[^]*again 1024/,
  refuse: /^refused 413\nagain 1024/
}

for (const [stack, { why, run }] of Object.entries(stacks)) {
  describe(stack, { skip: why, concurrency: 4 }, () => {
    for (const face of Object.keys(faces)) {
      test(`h3, ${face}: ${stack} gets through its cases ${Object.keys(cases).join(', ')}`, () => withServer(face, h3, async (url, port) => {
        const outputs = await run(port, Object.keys(cases))
        for (const [name, expected] of Object.entries(cases)) assert.match(outputs[name] ?? '', expected, name)
      }))
    }
  })
}

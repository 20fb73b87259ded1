// Every way in which a response on HTTP/3 can end, as users of request and fetch see it: the table of docs/ends.md, walked
// by the peer that walks it for clients of the engine.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Agent } from 'trunkline'
import { ask, assertCell, faces } from '../../support/clients/asking.mjs'
import { quicServer } from '../../support/servers/quic_peer.mjs'
import { tableWithKinds } from '../../support/servers/wire.mjs'
import { together } from '../../support/together.mjs'

const agent = ({ root }) => new Agent({ connections: 1, http3: 'only', connect: { ca: root } })

/** One request to a server of its own; what its user saw and how many came. */
async function exchange (peer, face, number) {
  const run = peer.play(number)
  const port = await peer.printed('port', run)
  const dispatcher = agent(peer)
  try {
    const seen = await ask(face, `https://localhost:${port}/`, dispatcher)
    peer.end(run)
    return { seen, requests: Number(await peer.printed('requests', run)) }
  } finally {
    await dispatcher.destroy()
  }
}

for (const face of faces) {
  test(`${face} on HTTP/3 sees what the table says`, async t => {
    const peer = await quicServer(t)
    const cells = tableWithKinds('A client on HTTP/3')
    await together(peer.cases, async ({ number, row, place, body }) => {
      const about = `${row}, ${place}, case ${number}`
      const { seen, requests } = await exchange(peer, face, number)
      assertCell(face, cells[row][place], body, seen, about)
      assert.equal(requests, cells[row][place] === 'again' ? 2 : 1, `requests: ${about}`)
    })
  })
}

test('request and fetch on HTTP/3 see what the table says of a server that is killed', async t => {
  const cells = tableWithKinds('A client on HTTP/3', true)
  await Promise.all(faces.map(async face => {
    const peer = await quicServer(t)
    const cases = peer.cases.filter(({ row }) => row === 'silence')
    const dispatcher = agent(peer)
    const asked = cases.map(async ({ number }) => {
      const run = peer.play(number)
      const port = await peer.printed('port', run)
      const seen = ask(face, `https://localhost:${port}/`, dispatcher)
      await peer.printed('played', run)
      return { seen }
    })
    const seen = await Promise.all(asked)
    await peer.die()
    for (const [at, { place, body }] of cases.entries()) {
      assertCell(face, cells.SIGKILL[place], body, await seen[at].seen, `SIGKILL, ${place}`)
    }
    await dispatcher.destroy()
  }))
})

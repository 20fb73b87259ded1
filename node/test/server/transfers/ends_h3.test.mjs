// Every way in which a request on HTTP/3 can end, as handlers of servers see it: the table of docs/ends.md, walked by the
// peer that walks it for servers of the engine, and what errors their readers get.
import assert from 'node:assert/strict'
import test, { suite } from 'node:test'
import { assertError, faces, started } from '../../support/servers/ended.mjs'
import { quicClient } from '../../support/servers/quic_peer.mjs'
import { tableWithKinds } from '../../support/servers/wire.mjs'

/** The outcome of a case at the handler of a server. */
async function outcome (peer, { seen }, number, expected) {
  const run = peer.play(number)
  await peer.printed('played', run)
  if (expected === 'none') {
    // A request on another connection, whose handler runs behind it.
    const probed = seen.probed()
    const probe = peer.probe()
    await probed
    peer.end(probe)
    peer.end(run)
    return seen.isEmpty ? ['none', '', 'no error'] : seen.next()
  }
  const came = await seen.next()
  if (expected === 'answered') {
    await peer.printed('answered', run)
    came[0] = 'answered'
  }
  peer.end(run)
  return came
}

// Each face has a server and a client of its own, which wait more than they work.
suite('handlers on HTTP/3', { concurrency: true }, () => {
  for (const face of Object.keys(faces)) {
    test(`a handler of ${face} on HTTP/3 sees what the table says`, async t => {
      const server = await started(t, face, true, true)
      const peer = await quicClient(t, server.port)
      const cells = tableWithKinds('A server on HTTP/3')
      for (const { number, row, place, body } of peer.cases) {
        if (row === 'silence') continue
        const cell = cells[row][place]
        const [expected, kind] = cell.split(': ')
        const about = `${row}, ${place}, case ${number}`
        const [came, text, error] = await outcome(peer, server, number, expected)
        // As with the compatible API of node:http2, for what came in one packet: the head says that there is no body.
        const isAbortedFirst = face === 'compat' && row === 'STOP_SENDING of any code, then FIN' && place === 'behind the head'
        if (isAbortedFirst) {
          assert.equal(came, 'cut', about)
          continue
        }
        assert.equal(came, expected, about)
        if (expected !== 'none') assert.equal(text, body, `what came is delivered: ${about}`)
        if (kind !== undefined) assertError(face, kind, error, about)
      }
    })
  }
})

/** Plays every case of silence, lets the client end as `ends` says, and asserts what the handlers saw, in any order. */
async function assertSilence (t, face, row, ends) {
  const server = await started(t, face, true, true)
  const peer = await quicClient(t, server.port)
  const cells = tableWithKinds('A server on HTTP/3', true)[row]
  const cases = peer.cases.filter(({ row }) => row === 'silence')
  assert.deepEqual(cases.map(({ place }) => place).sort(), Object.keys(cells).sort())
  for (const { number } of cases) await peer.printed('played', peer.play(number))
  await ends(peer)
  const expected = cases.filter(({ place }) => cells[place] !== 'none').map(({ place, body }) => [cells[place].split(':')[0], body])
  const seen = []
  for (let left = expected.length; left > 0; left--) {
    const [outcome, text, error] = await server.seen.next()
    if (outcome === 'cut') assertError(face, 'transport', error, row)
    seen.push([outcome, text])
  }
  assert.deepEqual(seen.sort(), expected.sort())
  assert.ok(server.seen.isEmpty)
}

// All at once, for each lasts as long as the idle timeout of the client.
test('handlers on HTTP/3 see what the table says of clients that fall silent or are killed', t => Promise.all(Object.keys(faces).flatMap(face => [
  assertSilence(t, face, 'silence', async () => {}),
  assertSilence(t, face, 'SIGKILL', peer => peer.die())
])))

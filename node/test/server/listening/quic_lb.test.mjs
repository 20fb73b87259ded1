// Connection ids of HTTP/3 for load balancers, as a path between client and server sees them.
import { cert, key } from '../../support/certificates/certificate.mjs'
import assert from 'node:assert/strict'
import dgram from 'node:dgram'
import { once } from 'node:events'
import test from 'node:test'
import { Agent, createSecureServer, serve } from 'trunkline'

const LONG_HEADER = 0x80
/** The place of the lengths of both ids in a long header (RFC 8999 section 5.1). */
const IDS_AT = 5

/** A relay to the server at `port`; `ids`: those that the server has given itself. */
async function relayTo (t, port) {
  const front = dgram.createSocket('udp4')
  const back = dgram.createSocket('udp4')
  t.after(() => { front.close(); back.close() })
  const ids = []
  let client
  front.on('message', (packet, from) => {
    client = from
    back.send(packet, port, '127.0.0.1')
  })
  back.on('message', packet => {
    if ((packet[0] & LONG_HEADER) !== 0) {
      const at = IDS_AT + 1 + packet[IDS_AT]
      ids.push(packet.subarray(at + 1, at + 1 + packet[at]))
    }
    front.send(packet, client.port, client.address)
  })
  front.bind(0, '127.0.0.1')
  await once(front, 'listening')
  return { port: front.address().port, ids }
}

async function idOf (t, port) {
  const relay = await relayTo(t, port)
  const agent = new Agent({ http3: 'only', connect: { ca: cert } })
  const { body } = await agent.request({ origin: `https://localhost:${relay.port}`, path: '/', method: 'GET' })
  assert.equal(await body.text(), 'ok')
  await agent.destroy()
  return relay.ids[0]
}

test('serve: an id has the server id in the clear, behind the configuration and its length', async t => {
  const server = serve({ hostname: '127.0.0.1', tls: { cert, key }, http3: true, quicLb: { serverId: 'ed793a', nonceBytes: 6, rotation: 2 }, fetch: () => new Response('ok') })
  t.after(() => server.destroy())
  const id = await idOf(t, server.port)
  assert.deepEqual([id.length, id[0], id.subarray(1, 4).toString('hex')], [12, 2 << 5 | 11, 'ed793a'])
})

test('createSecureServer: an encrypted id does not show the server id', async t => {
  const server = createSecureServer({ cert, key, http3: true, quicLb: { serverId: Buffer.from('ed793a', 'hex'), key: '8f95f09245765f80256934e50c66207f' } }, (_, response) => { response.end('ok') })
  server.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const id = await idOf(t, server.address().port)
  assert.deepEqual([id.length, id[0]], [14, 13])
  assert.notEqual(id.subarray(1, 4).toString('hex'), 'ed793a')
})

test('values out of their range are refused with what is allowed, and no key is printed', () => {
  const fetch = () => new Response('ok')
  for (const [quicLb, message] of [
    [{ serverId: 'abc' }, /quicLb.serverId is 'abc'; it must be 1 to 13 bytes, or their hexadecimal digits/],
    [{ serverId: '01', nonceBytes: 17 }, /quicLb.nonceBytes is 17; it must be an integer from 4 to 16/],
    [{ serverId: '01', rotation: 7 }, /quicLb.rotation is 7; it must be an integer from 0 to 6/],
    [{ serverId: '01', key: 'abcdef' }, /^quicLb.key must be 16 bytes, or their hexadecimal digits$/],
    [{ serverId: '01', secret: 1 }, /quicLb has no secret; it has serverId, nonceBytes, rotation, key/]
  ]) assert.throws(() => serve({ fetch, quicLb }), { name: 'InvalidArgumentError', message })
})

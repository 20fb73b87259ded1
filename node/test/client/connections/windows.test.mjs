// Receive windows by option, as a server receives them frame by frame.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import { Agent } from 'trunkline'
import { viaNew } from '../../support/clients/dispatch.mjs'
import { DATA, END_HEADERS, END_STREAM, HEADERS, SETTINGS, frame } from '../../support/servers/h2_frames.mjs'

const PREFACE_BYTES = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'.length
const WINDOW_UPDATE = 8
// RFC 7541 appendix A, entry 8.
const STATUS_200 = Buffer.from([0x88])

/** A server of HTTP/2 in cleartext that says `frames` in its own way: `met(socket, received)`, where heard gives each frame. */
async function bareH2 (t, met) {
  const sockets = new Set()
  const server = net.createServer(socket => {
    sockets.add(socket.on('error', () => {}))
    let bytes = Buffer.alloc(0)
    let isPrefaceRead = false
    const received = []
    socket.on('data', piece => {
      bytes = Buffer.concat([bytes, piece])
      if (!isPrefaceRead && bytes.length >= PREFACE_BYTES) {
        isPrefaceRead = true
        bytes = bytes.subarray(PREFACE_BYTES)
        socket.write(frame(SETTINGS, 0, 0))
      }
      while (isPrefaceRead && bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
        const end = 9 + bytes.readUIntBE(0, 3)
        const came = { type: bytes[3], flags: bytes[4], stream: bytes.readUInt32BE(5), payload: bytes.subarray(9, end) }
        bytes = bytes.subarray(end)
        for (const receive of received) receive(came)
      }
    })
    met(socket, receive => { received.push(receive) })
  }).listen(0, '127.0.0.1')
  t.after(() => { for (const socket of sockets) socket.destroy(); server.close() })
  await once(server, 'listening')
  return `http://127.0.0.1:${server.address().port}`
}

const get = async (dispatcher, origin) => (await viaNew(dispatcher, { origin, path: '/', method: 'GET' })).body

/** A dispatcher that ends with the test. */
function made (t, options) {
  const agent = new Agent({ h2Options: { useH2c: true }, ...options })
  t.after(() => agent.destroy())
  return agent
}

test('window.threshold says how much of a window is left when it is topped up', async t => {
  const [window, piece] = [60_000, 10_000]
  for (const threshold of [45_000, 5_000]) {
    let grant
    const first = new Promise(resolve => { grant = resolve })
    const origin = await bareH2(t, (socket, receive) => {
      let sent = 0
      receive(({ type, stream, payload }) => {
        if (type === HEADERS) {
          socket.write(frame(HEADERS, END_HEADERS, stream, STATUS_200))
          for (; sent < window; sent += piece) socket.write(frame(DATA, 0, stream, Buffer.alloc(piece)))
        }
        if (type === WINDOW_UPDATE && stream !== 0) {
          grant(payload.readUInt32BE(0))
          socket.write(frame(DATA, END_STREAM, stream))
        }
      })
    })
    const agent = made(t, { window: { stream: window, threshold } })
    assert.equal((await get(agent, origin)).length, window)
    const granted = await first
    assert.ok(granted >= window - threshold, `${granted} of ${window} were granted where ${threshold} may be left`)
  }
})

test('windows grow by no more than memoryBudget', async t => {
  // A long path: the peer learns late what it may send. Ours would grow its window to keep the path full.
  const rounds = 60
  const largest = async memoryBudget => {
    let report
    const seen = new Promise(resolve => { report = resolve })
    const origin = await bareH2(t, (socket, receive) => {
      let [id, quota, most, round] = [0, 65_536, 0, 0]
      const send = () => {
        most = Math.max(most, quota)
        round += 1
        if (round > rounds || most > 65_536 + 1) {
          socket.write(frame(DATA, END_STREAM, id))
          return report(most)
        }
        for (; quota > 0; quota -= Math.min(quota, 16_384)) socket.write(frame(DATA, 0, id, Buffer.alloc(Math.min(quota, 16_384))))
        setTimeout(send, 10)
      }
      receive(({ type, stream, payload }) => {
        if (type === HEADERS) {
          id = stream
          socket.write(frame(HEADERS, END_HEADERS, stream, STATUS_200))
          send()
        }
        if (type === WINDOW_UPDATE && stream !== 0) quota += payload.readUInt32BE(0)
      })
    })
    const agent = made(t, memoryBudget && { memoryBudget })
    await get(agent, origin)
    return seen
  }
  assert.ok(await largest() > 65_536 + 1, 'with the default a window grows')
  assert.equal(await largest(1), 65_536 + 1, 'and by no more than there is to lend')
})

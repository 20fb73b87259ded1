// A client of this package on HTTP/3 that is killed in the middle of uploads, as handlers see it: nothing but silence says it,
// so that it takes as long as a server bears silence (`QUIC_SERVER_SILENCE_MAX`).
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { assertError, faces, started } from '../../support/servers/ended.mjs'

const program = fileURLToPath(new URL('../../life/client/h3-killed.mjs', import.meta.url))
const UPLOADS = 5
const REQUESTS = 3

async function assertKilled (t, face) {
  const { port, seen } = await started(t, face, true, true)
  let begun = 0
  const cameAll = new Promise(resolve => { seen.onBody = () => { if (++begun === UPLOADS + REQUESTS) resolve() } })
  const child = spawn(process.execPath, [program, `https://localhost:${port}`, String(UPLOADS), String(REQUESTS)], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => { child.kill('SIGKILL') })
  child.on('exit', () => { child.stdout.emit('data', 'ended') })
  const [answered] = await once(child.stdout, 'data')
  assert.equal(String(answered).trim(), Array(REQUESTS).fill(200).join(' '))
  await cameAll
  for (let left = REQUESTS; left > 0; left--) assert.deepEqual((await seen.next()).slice(0, 2), ['whole', 'whole'])
  assert.ok(seen.isEmpty, 'no upload has ended before its client')
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
  for (let left = UPLOADS; left > 0; left--) {
    const [outcome, text, error] = await seen.next()
    assert.deepEqual([outcome, text], ['cut', 'body'], face)
    assertError(face, 'transport', error, 'SIGKILL')
  }
  assert.ok(seen.isEmpty, 'each has ended once')
}

// All at once, for each lasts as long as the silence.
test('handlers of every face see each upload of a client on HTTP/3 that is killed cut once, and none of it whole', t =>
  Promise.all(Object.keys(faces).map(face => assertKilled(t, face))))

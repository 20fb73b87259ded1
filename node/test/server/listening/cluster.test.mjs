// Servers of the workers of a cluster: who gets the connections, and what becomes of them when workers are replaced.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'node:test'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../support/servers/cluster.mjs', import.meta.url))
/** A cluster of one program, on a busy machine too. */
const CLUSTER_MS_MAX = 400_000

const IS_LONG = process.env.TRUNKLINE_LONG === '1'
/** Workers that are replaced, two of them the first ones: in `make ready` also those that came in their place. */
const REPLACED = IS_LONG ? 4 : 2

/** Reads what the primary of a cluster prints. */
async function outcomeOf (t, ...given) {
  const child = spawn(process.execPath, [program, ...given], { stdio: ['ignore', 'pipe', 'inherit'], timeout: CLUSTER_MS_MAX, killSignal: 'SIGKILL' })
  t.after(() => child.kill('SIGKILL'))
  const lines = []
  createInterface(child.stdout).on('line', line => { lines.push(line) })
  const [code] = await once(child, 'close')
  assert.equal(code, 0, lines.join('\n'))
  return lines.map(line => JSON.parse(line))
}

/** Replaces the workers of a cluster at a place under load. */
async function assertNothingLost (t, module, policy, place) {
  const [errors, failed, answers, exits] = await outcomeOf(t, module, policy, JSON.stringify(place), REPLACED)
  assert.deepEqual(errors, [], 'every worker listens')
  assert.deepEqual(failed, [], 'no connection fails')
  assert.ok(answers > 0)
  // Under SCHED_NONE the system may give any worker all connections.
  assert.deepEqual(exits, Array(REPLACED).fill(0), 'workers that are disconnected end by themselves')
}

for (const policy of ['SCHED_RR', 'SCHED_NONE']) {
  // Those of Node.js show that the check is right, which is not asked each time.
  for (const module of IS_LONG ? ['http2', 'ours'] : ['ours']) {
    test(`${module}, ${policy}: workers share a path, and are replaced without a refused connection`, async t => {
      const folder = mkdtempSync(join(tmpdir(), 'trunkline-cluster-'))
      t.after(() => rmSync(folder, { recursive: true }))
      await assertNothingLost(t, module, policy, { path: join(folder, 'socket') })
    })
  }
  for (const module of ['ours', 'ours-http']) {
    test(`${module}, ${policy}: workers share a port, and are replaced without a lost request`, async t => {
      await assertNothingLost(t, module, policy, { port: 0, host: '127.0.0.1' })
    })
  }
}

// Linux leaves what the last handshake of a closing socket has reached to that socket.
for (const module of process.platform === 'linux' ? ['ours-http', 'serve'] : []) {
  test(`${module}, reusePort: workers with sockets of their own on a port are replaced without a lost request`, async t => {
    await assertNothingLost(t, module, 'SCHED_RR', { port: 0, host: '127.0.0.1', reusePort: true })
  })
}

const places = fileURLToPath(new URL('../../support/servers/cluster_places.mjs', import.meta.url))

/** The outcome of two workers that listen at the same place, and of who answers there. */
async function placesOf (t, module) {
  const child = spawn(process.execPath, [places, module], { stdio: ['ignore', 'pipe', 'inherit'], timeout: CLUSTER_MS_MAX, killSignal: 'SIGKILL' })
  t.after(() => child.kill('SIGKILL'))
  const printed = []
  child.stdout.on('data', chunk => { printed.push(chunk) })
  const [code] = await once(child, 'close')
  assert.equal(code, 0)
  return JSON.parse(Buffer.concat(printed).toString())
}

test('workers of a cluster listen at every kind of place, with both policies, as on the servers of Node.js', async t => {
  const [own, ours] = await Promise.all([placesOf(t, 'http'), placesOf(t, 'ours')])
  assert.deepEqual(ours, own)
  assert.ok(Object.keys(ours).length >= 10, 'the combinations')
})

test('workers of a cluster serve HTTP/3 beside the connections of their primary, with both policies', async t => {
  for (const outcome of Object.values(await placesOf(t, 'ours-http3'))) assert.deepEqual(outcome.workers, ['listening', 'listening'])
})

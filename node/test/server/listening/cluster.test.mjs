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
const CLUSTER_MS_MAX = 120_000

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

for (const module of ['node', 'ours']) {
  for (const policy of ['SCHED_RR', 'SCHED_NONE']) {
    test(`${module}, ${policy}: workers share a path, and are replaced without a refused connection`, async t => {
      const folder = mkdtempSync(join(tmpdir(), 'trunkline-cluster-'))
      t.after(() => rmSync(folder, { recursive: true }))
      const [errors, failed, answers, exits] = await outcomeOf(t, module, policy, join(folder, 'socket'))
      assert.deepEqual(errors, [], 'every worker listens')
      assert.deepEqual(failed, [], 'no connection fails')
      assert.ok(answers > 0)
      // Under SCHED_NONE the system may give any worker all connections.
      assert.deepEqual(exits, [0, 0, 0, 0], 'workers that are disconnected end by themselves')
    })
  }
}

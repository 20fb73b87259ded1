// The life of servers: processes and workers that end, ports that are shared. What may crash runs in a
// process of its own.
import assert from 'node:assert/strict'
import test from 'node:test'
import { EXITS, run } from './lines.mjs'

/** All of it with the program of one line of Node.js. */
export function serverLife (line, program) {
  test(`${line}: a server holds the process until it is closed, or let go of`, async () => {
    const ended = await run(program, 'life/server/idle.mjs')
    assert.deepEqual([ended.code, ended.stdout], [0, 'closed'], ended.stderr)
  })
  test(`${line}: process.exit under load is clean`, async () => {
    for (let round = 0; round < EXITS; round++) {
      const ended = await run(program, 'life/server/exit.mjs')
      assert.deepEqual([ended.code, ended.signal], [7, null], ended.stderr)
    }
  })
  for (const engine of ['threads', 'inline']) {
    test(`${line}: what was answered before process.exit() goes out, engine ${engine}`, async () => {
      const ended = await run(program, 'life/server/answered.mjs', { env: { TRUNKLINE_ENGINE: engine } })
      assert.deepEqual([ended.code, ended.stdout], [0, '60000 7'], ended.stderr)
    })
  }
  test(`${line}: a pipe is no file, and holds nobody up who answers or exits`, async () => {
    const ended = await run(program, 'life/server/pipe.mjs')
    assert.deepEqual([ended.code, ended.signal, ended.stdout], [7, null, 'EINVAL'], ended.stderr)
  })
  test(`${line}: a worker that ends does not wait for a file that is being opened`, { skip: process.platform !== 'linux' }, async () => {
    // The kernel takes a lease away after 45 s.
    const ended = await run(program, 'life/server/leased.mjs', { limit: 40_000 })
    assert.deepEqual([ended.code, ended.signal, ended.stdout], [0, null, 'asked for\nthe worker has ended'], ended.stderr)
  })
  for (const form of ['serve', 'createServer', 'createSecureServer']) {
    test(`${line}: ${form}: workers share a port, and those that are terminated leave the others alone`, async () => {
      const ended = await run(program, 'life/server/workers.mjs', { args: [form] })
      assert.deepEqual([ended.code, ended.signal, ended.stdout], [0, null, '4 serve\nmain still serves'], ended.stderr)
    })
    test(`${line}: ${form}: processes of a cluster share a port, and one that goes leaves it to the others`, async () => {
      const ended = await run(program, 'life/server/cluster.mjs', { args: [form] })
      assert.deepEqual([ended.code, ended.signal, ended.stdout], [0, null, '2 processes serve'], ended.stderr)
    })
  }
  test(`${line}: while JavaScript stands still nothing more is read, and all is answered after`, async () => {
    const ended = await run(program, 'life/server/behind.mjs')
    assert.deepEqual([ended.code, ended.stdout], [0, 'little is held\n[["1048576",40]]\nclosed'], ended.stderr)
  })
  // The long form runs with a release build, which does not panic over a code that the channel does not have.
  const skip = process.env.TRUNKLINE_LONG === '1'
  test(`${line}: a panic of the engine ends its servers and what is open on them, and the process lives`, { skip }, async () => {
    const ended = await run(program, 'life/server/panic.mjs')
    assert.deepEqual([ended.code, ended.stdout], [0, 'aborted\nuncaught of the first server\nclosed\nUND_ERR_ENGINE_ENDED'], ended.stderr)
  })
}

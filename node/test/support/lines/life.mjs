// The life of a process with the engine in it: workers that end, processes that exit, agents that
// idle. Each in a process of its own, so that a crash is seen.
import assert from 'node:assert/strict'
import test from 'node:test'
import { EXITS, run } from './lines.mjs'

/** All of it with the program of one line of Node.js. */
export function life (line, program) {
  test(`${line}: an idle agent does not hold the process, and a request under way does`, async () => {
    const ended = await run(program, 'life/client/idle.mjs')
    assert.deepEqual([ended.code, ended.stdout], [0, 'answered after 300 ms'], ended.stderr)
  })
  test(`${line}: a socket behind an upgrade holds the process unless it was unreferenced`, async () => {
    const ended = await run(program, 'life/client/unreferenced.mjs')
    assert.deepEqual([ended.code, ended.stdout], [0, 'held'], ended.stderr)
  })
  test(`${line}: an unread body does not hold the process, and one that is read later does`, async () => {
    const ended = await run(program, 'life/client/unread.mjs')
    assert.deepEqual([ended.code, ended.stdout], [0, 'true\ntrue\n200 200\n200 200'], ended.stderr)
  })
  test(`${line}: importing does nothing, and a process that never closed ends`, async () => {
    const ended = await run(program, 'life/client/import.mjs')
    assert.deepEqual([ended.code, ended.stdout], [0, 'imported'], ended.stderr)
  })
  test(`${line}: process.exit under load is clean`, async () => {
    for (let round = 0; round < EXITS; round++) {
      const ended = await run(program, 'life/client/exit.mjs')
      assert.deepEqual([ended.code, ended.signal], [7, null], ended.stderr)
    }
  })
  test(`${line}: workers that are terminated under load, and workers that end, leave the process alone`, async () => {
    const ended = await run(program, 'life/client/workers.mjs')
    assert.deepEqual([ended.code, ended.signal, ended.stdout], [0, null, 'main still works'], ended.stderr)
  })
  test(`${line}: workers of which the first to load the addon has ended go on`, async () => {
    const ended = await run(program, 'life/client/first-in-worker.mjs')
    assert.deepEqual([ended.code, ended.signal, ended.stdout], [0, null, 'all workers asked'], ended.stderr)
  })
  test(`${line}: forked processes and workers of a cluster have engines of their own, and one that is killed takes nobody along`, async () => {
    const ended = await run(program, 'life/client/cluster.mjs')
    assert.deepEqual([ended.code, ended.stdout], [0, '0 0 0 SIGKILL SIGKILL'], ended.stderr)
  })
  // The long form runs with a release build, which does not panic over a code that the channel does not have.
  const skip = process.env.TRUNKLINE_LONG === '1'
  test(`${line}: a panic of the engine fails what is open and what comes later, and the process lives`, { skip }, async () => {
    const ended = await run(program, 'life/client/panic.mjs')
    const all = count => Array(count).fill('UND_ERR_ENGINE_ENDED').join(' ')
    assert.deepEqual([ended.code, ended.stdout], [0, [all(3), all(2), all(2)].join('\n')], ended.stderr)
  })
  test(`${line}: an exception in a callback is uncaught, and only that`, async () => {
    const ended = await run(program, 'life/client/throws.mjs')
    assert.deepEqual([ended.code, ended.stdout], [0, 'heard: from the callback\nstill works'], ended.stderr)
  })
  test(`${line}: dispatchers that were dropped without close() are collected with their connections, and what is under way holds its own`, async () => {
    const ended = await run(program, 'life/client/dropped.mjs')
    assert.deepEqual([ended.code, ended.stdout], [0, 'collected, closed, still'], ended.stderr)
  })
  test(`${line}: dispatchers with listeners and open connections are not collected before the connections end`, async () => {
    const ended = await run(program, 'life/client/listened.mjs')
    assert.deepEqual([ended.code, ended.stdout], [0, 'kept 3, reported Agent Client Pool, collected'], ended.stderr)
  })
}

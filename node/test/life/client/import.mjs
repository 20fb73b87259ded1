import { readdirSync, readFileSync } from 'node:fs'
import { Agent, Response } from 'trunkline'

// A thread per engine, of this name: there must be none yet.
const threads = () => readdirSync('/proc/self/task').map(id => readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim())
if (process.platform === 'linux' && threads().includes('trunkline')) throw new Error('importing started a thread')
// Node loads all of its fetch with the first look at one of its classes: `process.moduleLoadList` names what it has.
const hasFetch = () => process.moduleLoadList.some(name => name.endsWith('internal/deps/undici/undici'))
if (hasFetch()) throw new Error('importing loaded fetch')
if (!(new Response('') instanceof globalThis.Response)) throw new Error('a Response is none of the built-in class')
if (!hasFetch()) throw new Error('fetch has another name in the list')
console.log('imported')
new Agent({ engine: 'threads' })
if (process.platform === 'linux') {
  // A thread gives itself its name when it first runs.
  const nobody = new Int32Array(new SharedArrayBuffer(4))
  const end = performance.now() + 20_000
  while (!threads().includes('trunkline')) {
    if (performance.now() > end) throw new Error('its thread has another name')
    Atomics.wait(nobody, 0, 0, 1)
  }
}

import { readdirSync, readFileSync } from 'node:fs'
import { Agent } from 'trunkline'

// A thread per engine, of this name: there must be none yet.
const threads = () => readdirSync('/proc/self/task').map(id => readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim())
if (process.platform === 'linux' && threads().includes('trunkline')) throw new Error('importing started a thread')
console.log('imported')
new Agent()
if (process.platform === 'linux' && !threads().includes('trunkline')) throw new Error('its thread has another name')

import { readdirSync } from 'node:fs'
import { Agent } from 'trunkline'

// A thread per engine: there must be none yet.
const threads = () => readdirSync('/proc/self/task').length
const before = threads()
await new Promise(resolve => setTimeout(resolve, 20))
if (process.platform === 'linux' && threads() > before) throw new Error('importing started a thread')
console.log('imported')
new Agent()

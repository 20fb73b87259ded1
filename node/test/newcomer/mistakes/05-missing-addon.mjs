// The package of this platform's addon is not installed, and a platform that has none.
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mistake } from './print.mjs'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-newcomer-addon-'))
try {
  cpSync(fileURLToPath(new URL('../node_modules/trunkline', import.meta.url)), join(folder, 'node_modules/trunkline'), { recursive: true })
  const { Agent } = createRequire(join(folder, 'program.cjs'))('trunkline')
  await mistake(() => new Agent().request({ origin: 'http://127.0.0.1:9', path: '/', method: 'GET' }))
  Object.defineProperty(process, 'arch', { value: 'ppc64' })
  await mistake(() => new Agent().request({ origin: 'http://127.0.0.1:9', path: '/', method: 'GET' }))
} finally {
  rmSync(folder, { recursive: true })
}

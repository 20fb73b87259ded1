// A line of Node.js that is too old.
import { createRequire } from 'node:module'
import { mistake } from './print.mjs'

Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })
Object.defineProperty(process, 'version', { value: 'v18.20.8' })
await mistake(() => createRequire(import.meta.url)('trunkline'))

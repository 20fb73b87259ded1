// An option whose name is misspelled, and one whose value is wrong.
import { Agent, Response, serve } from 'trunkline'
import { mistake } from './print.mjs'

const fetch = () => new Response('hello')
await mistake(() => serve({ prot: 3000, fetch }))
await mistake(() => serve({ port: 'many', fetch }))
await mistake(() => serve({ port: 0 }))
await mistake(() => new Agent({ connections: 'four' }))
await mistake(() => new Agent({ engine: 'fast' }))
process.on('warning', ({ name, code, message }) => { console.log(`${name} [${code}]: ${message}`) })
new Agent({ conections: 4 })

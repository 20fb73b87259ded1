import { createRequire } from 'node:module'
import * as trunkline from 'trunkline'
import whole from 'trunkline'

const require = createRequire(import.meta.url)
if (whole.Agent !== trunkline.Agent || require('trunkline').Agent !== trunkline.Agent) throw new Error('two copies of the package')
await require('./used.cjs')(trunkline)

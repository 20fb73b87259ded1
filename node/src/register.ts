// `node --import trunkline/register`: node:http2 is this package's for the whole process, in programs that
// import it and in those that require it.

import nodeHttp2 from 'node:http2'
import { syncBuiltinESMExports } from 'node:module'
import { debuglog } from 'node:util'
import ours from './http2/module'

const NAMES = ['connect', 'createServer', 'createSecureServer'] as const

Object.assign(nodeHttp2, Object.fromEntries(NAMES.map(name => [name, ours[name]])))
syncBuiltinESMExports()
debuglog('trunkline')(`node:http2 is trunkline's: ${NAMES.join(', ')}`)

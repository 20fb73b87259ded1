// `node --import trunkline/register`: node:http2 is this package's for the whole process, in programs that
// import it and in those that require it.

import nodeHttp2 from 'node:http2'
import { syncBuiltinESMExports } from 'node:module'
import tls from 'node:tls'
import { debuglog } from 'node:util'
import ours from './http2/module'
import { createSecureContext } from './server/tls/context'

const NAMES = ['connect', 'createServer', 'createSecureServer', 'performServerHandshake'] as const

Object.assign(nodeHttp2, Object.fromEntries(NAMES.map(name => [name, ours[name]])))
// Answers of SNICallback are made by it, and the servers of this package need the keys in them.
tls.createSecureContext = createSecureContext
syncBuiltinESMExports()
debuglog('trunkline')(`node:http2 is trunkline's: ${NAMES.join(', ')}`)

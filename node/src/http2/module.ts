// The whole of node:http2, for `trunkline/http2`: its servers and its clients are ours.

import '../node_version'
import nodeHttp2 from 'node:http2'
import { createSecureServer, createServer, performServerHandshake } from './server'
import { connect } from './client/connect'

const whole = { ...nodeHttp2, connect: connect as unknown as typeof nodeHttp2.connect, createServer, createSecureServer, performServerHandshake }
export = whole

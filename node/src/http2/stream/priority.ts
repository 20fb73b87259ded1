// The deprecated call `stream.priority`.

import { nodeLine } from '../../node_version'
import { checkObject, plain } from '../codes'

/** From this line on node warns of `priority`. */
const warnsOfPriority = nodeLine >= 24
let reportedPriority = !warnsOfPriority
function warnOfPriority (): void {
  if (!reportedPriority) process.emitWarning('http2Stream.priority is longer supported after priority signalling was deprecated in RFC 9113', 'DeprecationWarning', 'DEP0194')
  reportedPriority = true
}

/** Warns from that line on, once; checks the options on lines before it, as node:http2. Throws of a stream that is destroyed. */
export function checkPriority (stream: { readonly destroyed: boolean }, options: unknown): void {
  warnOfPriority()
  if (!warnsOfPriority) checkObject(options, 'options')
  if (stream.destroyed) throw plain('ERR_HTTP2_INVALID_STREAM')
}

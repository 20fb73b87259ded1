// The deprecated call `stream.priority`.

import { checkObject } from '../codes'

/** From this line on node warns of `priority`. */
const WARNS_FROM = 24
const warnsOfPriority = Number.parseInt(process.versions.node, 10) >= WARNS_FROM
let reportedPriority = !warnsOfPriority
function warnOfPriority (): void {
  if (!reportedPriority) process.emitWarning('http2Stream.priority is longer supported after priority signalling was deprecated in RFC 9113', 'DeprecationWarning', 'DEP0194')
  reportedPriority = true
}

/** Warns from that line on, once; checks the options on lines before it, as node:http2. */
export function checkPriority (options: unknown): void {
  warnOfPriority()
  if (!warnsOfPriority) checkObject(options, 'options')
}

// The errors of `listen`, in node's form.

import { constants } from 'node:os'
import { getSystemErrorMap } from 'node:util'

/** As `uvException` of node's: `address` and `port` are what was asked for. `hasNodesWords`: the message is node's too, which says
 * nothing to do. */
export function listenError (failure: { message: string; system?: string | null }, address: string | null, port: number | null, hasNodesWords = false): Error {
  let code = failure.system ?? 'EINVAL'
  // As libuv has it of paths.
  if (code === 'ENOENT' && port === NO_PORT) code = 'EACCES'
  const errno = -(constants.errno as Record<string, number>)[code]!
  const error = new Error(`listen ${code}: ${hasNodesWords ? wordsOf(failure, errno, address, port) : failure.message}`)
  return Object.assign(error, { code, errno, syscall: 'listen', address: address ?? (port === null ? null : '::') }, port === null ? {} : { port })
}

/** Node's words and where it was, for an error of the system's; the engine's own words for others. */
function wordsOf (failure: { message: string; system?: string | null }, errno: number, address: string | null, port: number | null): string {
  const [, words] = getSystemErrorMap().get(errno) ?? []
  if (failure.system == null || words === undefined) return failure.message
  const host = address ?? (port === null ? undefined : '::')
  const place = host === undefined ? '' : port !== null && port > 0 ? ` ${host}:${port}` : ` ${host}`
  return words + place
}

/** The port in node's errors for a path. */
export const NO_PORT = -1

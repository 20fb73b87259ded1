// The errors of `listen`, in node's form.

import { constants } from 'node:os'

/** As `uvException` of node's: `address` and `port` are what was asked for. */
export function listenError (failure: { message: string; system?: string | null }, address: string | null, port: number | null): Error {
  let code = failure.system ?? 'EINVAL'
  // As libuv has it of paths.
  if (code === 'ENOENT' && port === NO_PORT) code = 'EACCES'
  const error = new Error(`listen ${code}: ${failure.message}`)
  const errno = -(constants.errno as Record<string, number>)[code]!
  return Object.assign(error, { code, errno, syscall: 'listen', address: address ?? (port === null ? null : '::') }, port === null ? {} : { port })
}

/** The port in node's errors for a path. */
export const NO_PORT = -1

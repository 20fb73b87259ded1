// The file of a Unix socket: its permissions, and which file it is.

import { chmodSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

/** Lets every user read or write the socket at `path`. */
export function openTo (path: string, readable: boolean, writable: boolean): void {
  const more = (readable ? 0o444 : 0) | (writable ? 0o222 : 0)
  if (more !== 0 && !path.startsWith('\0')) chmodSync(path, statSync(path).mode | more)
}

export interface File { path: string; inode: bigint }

/** The file at `path`; undefined: none, or a name without a file. */
export function fileAt (path: string): File | undefined {
  if (path.startsWith('\0')) return undefined
  path = resolve(path)
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? undefined : { path, inode: found.ino }
}

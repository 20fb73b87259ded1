// Files that the system has in memory, read whole within the turn: a small one costs less than the way to another thread.

import { load } from '../../channel/addon'
import type { FileFacts } from './file_plan'
import { isLimited } from '../../permission'

/** Bytes of the largest file that is read so: a copy of some microseconds. */
const FILE_BYTES_MAX = 64 * 1024

interface CachedFile extends FileFacts { bytes: Buffer }

let room: Buffer | undefined
const modified = new Float64Array(1)
const facts = new Uint8Array(modified.buffer)

/** The file at `path`; null: it must be waited for, is larger, is none, or may not be read. The bytes are the next call's too. */
export function cachedFile (path: string): CachedFile | null {
  if (isLimited) return null
  room ??= Buffer.allocUnsafeSlow(FILE_BYTES_MAX)
  const size = load().fileCached(path, room, facts)
  return size < 0 ? null : { size, mtimeMs: modified[0]!, bytes: room.subarray(0, size) }
}

// The sizes of bodies in both directions.
import { createHash } from 'node:crypto'

/** Ten mebibytes in which no part is like another: a lost or doubled piece shows. The peers in other
 * languages make the same. */
export const BIG = (() => {
  const words = new Uint32Array(10 * 2 ** 20 / 4)
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(at, 0x9E3779B9)
  return Buffer.from(words.buffer)
})()
export const LARGE_VALUE = 'v'.repeat(12 * 1024)
/** Pieces of a body that is not read at first. */
export const SLOW_PIECES = 128
export const SLOW_PIECE_BYTES = 256 * 1024
export const digest = bytes => createHash('sha1').update(bytes).digest('hex')

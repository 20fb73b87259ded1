// Compression of WebSockets, by Bun's words for it.

import { inspect } from 'node:util'

/** Memory of a compressor, in the words of Bun. */
const COMPRESSORS = new Set<unknown>([true, false, undefined, null, 'disable', 'shared', 'dedicated', '3KB', '4KB', '8KB', '16KB', '32KB', '64KB', '128KB', '256KB'])
const isOff = (compressor: unknown): boolean => compressor == null || compressor === false || compressor === 'disable'

/** The options for the package ws. */
export function deflateOf (given: boolean | Record<string, unknown>): boolean | Record<string, unknown> {
  if (typeof given !== 'object' || !('compress' in given || 'decompress' in given)) return given
  const { compress, decompress, ...rest } = given
  for (const [name, value] of Object.entries({ compress, decompress })) {
    if (!COMPRESSORS.has(value)) throw new TypeError(`websocket.perMessageDeflate.${name} is ${inspect(value)}; it must be a boolean, or one of ${[...COMPRESSORS].filter(word => typeof word === 'string').join(', ')}`)
  }
  if (isOff(compress) && isOff(decompress)) return false
  // Without a compressor a client's compressed messages are read, and none is sent: none is long enough.
  return { ...rest, ...(isOff(compress) ? { threshold: Infinity } : {}), serverNoContextTakeover: compress !== 'dedicated', clientNoContextTakeover: decompress !== 'dedicated' }
}

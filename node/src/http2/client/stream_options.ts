// The options of a session's request, with the checks of node:http2.

import { checkNumber, checkObject, invalidType, outOfRange } from '../codes'

/** Options of a request. */
export interface StreamOptions {
  /** Whether no content follows. Default: true for GET, HEAD and DELETE, false for others, as with node:http2. */
  endStream?: boolean
  /** Checked and ignored: priorities of RFC 7540 are deprecated (RFC 9113 section 5.3.2). */
  exclusive?: boolean
  /** Checked and ignored, as `exclusive`. */
  parent?: number
  /** Checked and ignored, as `exclusive`. */
  weight?: number
  /** Checked and ignored, as `exclusive`. */
  silent?: boolean
  /** Whether 'wantTrailers' comes behind the content, for `sendTrailers`. Default: false. */
  waitForTrailers?: boolean
  /** Aborts the stream with CANCEL. Default: none. */
  signal?: AbortSignal
}

export function checkStreamOptions (options: StreamOptions | undefined): void {
  checkObject(options, 'options')
  const { endStream, exclusive, parent, silent, signal } = options ?? {}
  if (parent !== undefined) {
    checkNumber(parent, 'options.parent')
    if (!(parent >= 0)) throw outOfRange('options.parent', '>= 0', parent)
  }
  checkFlag(exclusive, 'options.exclusive')
  checkFlag(silent, 'options.silent')
  checkFlag(endStream, 'options.endStream')
  if (signal && (typeof signal !== 'object' || !('aborted' in signal))) throw invalidType('options.signal', 'an instance of AbortSignal', signal)
}

function checkFlag (value: unknown, name: string): void {
  if (value !== undefined && typeof value !== 'boolean') throw invalidType(name, 'of type boolean', value)
}

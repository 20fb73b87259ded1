// Settings of sessions of both sides, as node:http2 has them.

import type { Settings as NodeSettings } from 'node:http2'
import { withCustom, withListed, type CustomSettings } from './custom_settings'

/** With the older name of one of them, which node's types lack. */
export type Http2Settings = NodeSettings & { maxHeaderSize?: number | undefined; customSettings?: CustomSettings | undefined }

const UNLIMITED = 2 ** 32 - 1
/** The window of a stream, and of a connection, that begins (RFC 9113 section 6.9.2). */
export const WINDOW_INITIAL = 65_535
/** Bytes that the peer may still send on a stream with a window of `window` bytes, of which it has sent `received` and a reader has
 * taken `taken`: as with node:http2 they are given back by halves of the window. */
export function windowLeft (window = WINDOW_INITIAL, received = 0, taken = 0): number {
  const half = Math.max(Math.floor(window / 2), 1)
  return Math.max(window - received + Math.floor(taken / half) * half, 0)
}
/** Both sides' settings before either has sent any. */
export const INITIAL: Http2Settings = {
  headerTableSize: 4096,
  enablePush: true,
  initialWindowSize: WINDOW_INITIAL,
  maxFrameSize: 16_384,
  maxConcurrentStreams: UNLIMITED,
  maxHeaderListSize: UNLIMITED,
  maxHeaderSize: UNLIMITED,
  enableConnectProtocol: false
}

/** `settings` changed by `changes`, except for those in `fixed`; the two names of one setting say the same. */
export function changed (settings: Http2Settings, changes: Http2Settings, fixed: readonly string[]): Http2Settings {
  const { maxHeaderListSize, maxHeaderSize = maxHeaderListSize } = changes
  const stated = Object.entries(changes).filter(([name, value]) => name in INITIAL && !fixed.includes(name) && value !== undefined)
  const next = { ...settings, ...Object.fromEntries(stated) as Http2Settings }
  if (maxHeaderSize !== undefined) next.maxHeaderListSize = next.maxHeaderSize = maxHeaderSize
  return withCustom(next, settings, changes)
}

/** The peer's, by the values of the connection, of which a version may lack some; `listed`: the extensions that its user asks for,
 * of which `before` has those of earlier frames. */
export function remoteOf (values: readonly (number | undefined)[], before: Http2Settings, listed: readonly number[]): Http2Settings {
  const [headerTableSize, push, maxConcurrentStreams, initialWindowSize, maxFrameSize, maxHeaderListSize, connect] = values
  const all: Record<string, number | boolean | undefined> = {
    headerTableSize, enablePush: push === 1, initialWindowSize, maxFrameSize, maxConcurrentStreams,
    maxHeaderListSize, maxHeaderSize: maxHeaderListSize, enableConnectProtocol: connect === 1
  }
  const known = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Http2Settings
  return withListed(known, before, values, listed)
}

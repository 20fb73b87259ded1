// The settings of a client's session, as node:http2 has them.

import { getPackedSettings } from 'node:http2'
import { countOf, settingsMaxOf, windowOf } from '../options/option_bounds'
import { extensionsOf } from '../options/custom_settings'
import { changed, type Http2Settings } from '../options/settings'

/** The largest section that is announced, bytes: as in `node/native/session/settings.rs`. */
const SECTION_BYTES_MAX = 128 * 1024

/** Settings that do not change in a connection's life. */
const FIXED = ['maxFrameSize', 'enablePush']
/** Settings that a session sends when its user gives none: a push is refused. */
const OURS: Http2Settings = { enablePush: false, maxHeaderListSize: 65_536, maxHeaderSize: 65_536 }

/** `settings` changed by `changes`, except for what is fixed for a client's connection. */
export const changedByClient = (settings: Http2Settings, changes: Http2Settings): Http2Settings => changed(settings, changes, FIXED)

/** The settings of the first SETTINGS frame. */
export const first = (given: Http2Settings): Http2Settings => changedByClient(OURS, given)

/** The error that ends a session of these settings: node checks them when its first frame is written. */
export function settingsError (settings: Http2Settings): Error | undefined {
  try {
    getPackedSettings(settings)
    return undefined
  } catch (error) {
    return error as Error
  }
}

/** Options of `connect` that are a session's. */
export interface ClientSessionBounds {
  settings?: Http2Settings
  maxOutstandingPings?: number
  maxOutstandingSettings?: number
  maxHeaderListPairs?: number
  peerMaxConcurrentStreams?: number
  maxSessionInvalidFrames?: number
  maxSettings?: number
  maxSendHeaderBlockLength?: number
  /** The window of the connection, bytes. */
  connectionWindowSize?: number
  maxDeflateDynamicTableSize?: number
  maxOriginSetSize?: number | null
  strictSingleValueFields?: boolean
  /** Identifiers of the peer's settings of extensions that are shown. */
  remoteCustomSettings?: number[]
  servername?: string
}

/** As `node/native/session/settings.rs` takes them. */
export function machineSettings (settings: Http2Settings, { maxHeaderListPairs, peerMaxConcurrentStreams, maxSessionInvalidFrames, maxSettings, connectionWindowSize, maxDeflateDynamicTableSize }: ClientSessionBounds): object {
  const list = settings.maxHeaderSize ?? settings.maxHeaderListSize
  const whole = (value: unknown): number | undefined => typeof value === 'number' && value >= 0 ? Math.trunc(value) : undefined
  return {
    headerTableSize: whole(settings.headerTableSize),
    initialWindowSize: whole(settings.initialWindowSize),
    maxHeaderListSize: list === undefined ? undefined : Math.min(whole(list)!, SECTION_BYTES_MAX),
    maxHeaderListPairs: countOf(maxHeaderListPairs),
    peerMaxConcurrentStreams: countOf(peerMaxConcurrentStreams),
    maxSessionInvalidFrames: countOf(maxSessionInvalidFrames),
    maxSettings: settingsMaxOf(maxSettings),
    connectionWindowSize: windowOf(connectionWindowSize),
    maxDeflateDynamicTableSize: countOf(maxDeflateDynamicTableSize),
    extensionSettings: extensionsOf(settings.customSettings)
  }
}

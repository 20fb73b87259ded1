// The settings of a client's session, as node:http2 has them.

import { getPackedSettings, type Settings as NodeSettings } from 'node:http2'
import { countOf, settingsMaxOf } from '../options/option_bounds'
import { extensionsOf, withCustom, withListed, type CustomSettings } from '../options/custom_settings'

/** With the older name of one of them, which node's types lack. */
export type Http2Settings = NodeSettings & { maxHeaderSize?: number | undefined; customSettings?: CustomSettings | undefined }

const UNLIMITED = 2 ** 32 - 1
/** The largest section that is announced, bytes: as in `node/native/session/settings.rs`. */
const SECTION_BYTES_MAX = 128 * 1024

/** Both sides' settings before either has sent any. */
export const INITIAL: Http2Settings = {
  headerTableSize: 4096,
  enablePush: true,
  initialWindowSize: 65_535,
  maxFrameSize: 16_384,
  maxConcurrentStreams: UNLIMITED,
  maxHeaderListSize: UNLIMITED,
  maxHeaderSize: UNLIMITED,
  enableConnectProtocol: false
}
/** Those that a session says when its user says none: a push is refused. */
const OURS: Http2Settings = { enablePush: false, maxHeaderListSize: 65_536, maxHeaderSize: 65_536 }

/** `settings` changed by `changes`; the two names of one setting say the same. What is fixed for a connection's life stays. */
export function changed (settings: Http2Settings, changes: Http2Settings): Http2Settings {
  const { maxHeaderListSize, maxHeaderSize = maxHeaderListSize } = changes
  const stated = Object.entries(changes).filter(([name, value]) => name in INITIAL && name !== 'maxFrameSize' && name !== 'enablePush' && value !== undefined)
  const next = { ...settings, ...Object.fromEntries(stated) as Http2Settings }
  if (maxHeaderSize !== undefined) next.maxHeaderListSize = next.maxHeaderSize = maxHeaderSize
  return withCustom(next, settings, changes)
}

/** Those of the first SETTINGS. */
export const first = (given: Http2Settings): Http2Settings => changed(OURS, given)

/** The peer's, by the values of the machine; `listed`: the extensions that its user asks for, of which `before` has those of earlier
 * frames. */
export function remoteOf (values: readonly number[], before: Http2Settings, listed: readonly number[]): Http2Settings {
  const [headerTableSize, push, maxConcurrentStreams, initialWindowSize, maxFrameSize, maxHeaderListSize, connect] = values as [number, number, number, number, number, number, number]
  const next: Http2Settings = {
    headerTableSize, enablePush: push === 1, initialWindowSize, maxFrameSize, maxConcurrentStreams,
    maxHeaderListSize, maxHeaderSize: maxHeaderListSize, enableConnectProtocol: connect === 1
  }
  return withListed(next, before, values, listed)
}

/** The error that ends a session of these settings: node checks them when its first frame is written. */
export function settingsError (settings: Http2Settings): Error | undefined {
  try {
    getPackedSettings(settings)
    return undefined
  } catch (error) {
    return error as Error
  }
}

/** Options of a session that are the machine's. */
interface Bounds {
  maxHeaderListPairs?: number | undefined
  peerMaxConcurrentStreams?: number | undefined
  maxSessionInvalidFrames?: number | undefined
  maxSettings?: number | undefined
}

/** As `node/native/session/settings.rs` takes them. */
export function machineSettings (settings: Http2Settings, { maxHeaderListPairs, peerMaxConcurrentStreams, maxSessionInvalidFrames, maxSettings }: Bounds): object {
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
    extensionSettings: extensionsOf(settings.customSettings)
  }
}

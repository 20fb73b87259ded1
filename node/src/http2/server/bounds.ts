// The engine's limits, timeouts and windows by the settings of HTTP/2, the members of a server and its options, of which the last go
// before the others.

import type { Settings } from 'node:http2'
import type { Limits, Timeouts, Windows } from '../../server/bounds'
import type { CompatServerOptions, OwnServer } from './compat_options'

/** RFC 9113 section 6.9.2, as node:http2 has it. */
const WINDOW_DEFAULT = 65_535

/** Fields of a head of HTTP/1.1, whatever a program says: the bytes of a head allow fewer. */
const FIELDS_MAX = 65_536

/** How long a head may take, which is a part of its request; 0: for ever, undefined: as the engine has it. */
function headTimeout ({ headersTimeout, requestTimeout }: OwnServer): number | undefined {
  const limits = [headersTimeout, requestTimeout].filter(time => time !== undefined)
  const finite = limits.filter(time => time > 0)
  return limits.length === 0 ? undefined : finite.length === 0 ? 0 : wholeMs(Math.min(...finite))
}

/** Programs compute times, so that they have fractions; node's timers take them, and any large number. */
const wholeMs = (ms: number): number => Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER)

/** The timeouts that node:http has as members of a server; 0: never. */
export function http1Timeouts (server: OwnServer, options: CompatServerOptions): Timeouts {
  const { httpAllowHalfOpen, keepAliveTimeout, keepAliveTimeoutBuffer = 0 } = server
  const head = headTimeout(server)
  const patience = keepAliveTimeout === undefined || keepAliveTimeout === 0 ? keepAliveTimeout : Math.max(wholeMs(Number(keepAliveTimeout) + Number(keepAliveTimeoutBuffer)), 1)
  // Listeners of `timeout` get a connection without a request, and decide.
  const idle = server.listenerCount('timeout') > 0 && patience !== undefined && patience > 0 ? head : patience
  return {
    ...(head === undefined ? {} : { head, firstRequest: head }),
    ...(idle === undefined ? {} : { idle }),
    ...(httpAllowHalfOpen === true ? { halfClosed: 0 } : {}),
    ...options.timeouts
  }
}

/** Fields of a head of HTTP/1.1: as node has it, at least those that are taken without `maxHeadersCount`, of which 0 is none. */
export function http1Fields ({ maxHeadersCount: most }: OwnServer, { http1FieldsMax: least }: CompatServerOptions): { http1FieldCountMax?: number } {
  if (least === undefined) return {}
  if (typeof most !== 'number' || !(most >= 0)) return { http1FieldCountMax: least }
  return { http1FieldCountMax: most === 0 ? FIELDS_MAX : Math.min(Math.max(Math.trunc(most), least), FIELDS_MAX) }
}

/** Settings of HTTP/2 that are limits of the engine's. */
export function limitsOf (settings: Settings, options: CompatServerOptions): Limits {
  const limits: Limits = {}
  const { maxConcurrentStreams, maxHeaderListSize, maxHeaderSize } = settings as Settings & { maxHeaderSize?: number }
  if (maxConcurrentStreams !== undefined) {
    limits.concurrentStreamsMax = limits.requestStreamsMax = maxConcurrentStreams
    // A handler may outlive its stream for a while.
    limits.runningHandlersMax = limits.requestHandlersMax = Math.min(2 * maxConcurrentStreams, 2 ** 32 - 1)
  }
  const { headerTableSize } = settings
  if (headerTableSize !== undefined) limits.headerTableBytesMax = headerTableSize
  const list = maxHeaderSize ?? maxHeaderListSize
  if (list !== undefined) limits.fieldSectionBytesMax = list
  return { ...limits, ...options.limits }
}

/** The windows, with that of a stream by its setting. */
export function windowsOf (settings: Settings, options: CompatServerOptions): Windows {
  return { ...options.windows, streamInitial: settings.initialWindowSize ?? WINDOW_DEFAULT }
}

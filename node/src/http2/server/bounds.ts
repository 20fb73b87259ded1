// The engine's limits, timeouts and windows by the settings of HTTP/2, the members of a server and its options, of which the last go
// before the others.

import http from 'node:http'
import type { Settings } from 'node:http2'
import type { Limits, Timeouts, Windows } from '../../server/bounds'
import { keptFor } from '../compat/http1/members'
import type { CompatServerOptions, OwnServer } from './compat_options'

/** Fields of a request that node:http takes without `maxHeadersCount`. */
export const HTTP1_FIELDS_MAX = 1000
/** The default of `limits.fieldSectionBytesMax` (`core/src/limits.rs`). */
const SECTION_BYTES_DEFAULT = 65_536
/** Bytes that a field counts for beside its name and value (RFC 9113 section 6.5.2), and those of all fields of a head at most. */
const FIELD_OVERHEAD_BYTES = 32
const OVERHEAD_BYTES_MAX = 64 * 1024
/** Bytes of a head of HTTP/1.1 beside its target, names and values: a method and a version, and a colon, a space and a line end for
 * each field. */
const LINE_BYTES = 64
const FIELD_BYTES = 4

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
  const { httpAllowHalfOpen, keepAliveTimeout, keepAliveTimeoutBuffer } = server
  const head = headTimeout(server)
  const patience = keepAliveTimeout === undefined || keepAliveTimeout === 0 ? keepAliveTimeout : Math.max(wholeMs(keptFor(keepAliveTimeout, keepAliveTimeoutBuffer)), 1)
  // Listeners of `timeout` get a connection without a request, and decide: one that they leave open has as long as a head may take.
  const isAsked = server.listenerCount('timeout') > 0 && patience !== undefined && patience > 0
  const idle = !isAsked ? patience : head === undefined || head === 0 ? head : wholeMs(patience + head)
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

/** The limits of a head of HTTP/1.1 with at most `fieldsMax` fields, of which each has a byte. `bytes`: of its target, names and values, as
 * node:http counts them, and as those are counted that come within the limits. */
function headLimits (bytes: number, fieldsMax: number): Limits {
  const fields = Math.min(fieldsMax, bytes)
  const section = bytes + Math.min(fields * FIELD_OVERHEAD_BYTES, OVERHEAD_BYTES_MAX)
  // Sections of every version have one limit: it only gives way to a higher one.
  return { headBytesMax: bytes + LINE_BYTES + fields * FIELD_BYTES, targetBytesMax: bytes, ...(section > SECTION_BYTES_DEFAULT ? { fieldSectionBytesMax: section } : {}) }
}

/** Settings of HTTP/2 that are limits of the engine's, and the limits of a head. */
export function limitsOf (settings: Settings, server: OwnServer, options: CompatServerOptions): Limits {
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
  const { http1FieldCountMax = options.limits.fieldCountMax ?? HTTP1_FIELDS_MAX } = http1Fields(server, options)
  return { ...limits, ...headLimits(options.http1.headBytesMax ?? http.maxHeaderSize, http1FieldCountMax), ...options.limits }
}

/** The windows, with that of a stream by its setting. */
export function windowsOf (settings: Settings, options: CompatServerOptions): Windows {
  return { ...options.windows, streamInitial: settings.initialWindowSize ?? WINDOW_DEFAULT }
}

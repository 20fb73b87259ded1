// The engine's bounds as options of servers: names, units and defaults. `node/native/server/listen.rs` reads them, and
// its test compares every name and default here with the engine's.

import { inspect } from 'node:util'
import { InvalidArgumentError } from '../errors'
import { nearest } from '../errors/near'

/** A rate: a burst, and a refill per second. */
export interface Rate {
  burst: number
  perSecond: number
}

/** The limits of one peer of a server. Counts, unless the name ends in bytes. */
export interface Limits {
  /** Fields of one field section; cookie crumbs count one by one (CVE-2026-49975). Default: 512. The API of node:http2 takes 128. */
  fieldCountMax?: number
  /** Bytes of the HPACK decoder's table (SETTINGS_HEADER_TABLE_SIZE). Default: 4096. */
  headerTableBytesMax?: number
  /** Bytes of the HPACK encoder's table on HTTP/2, as far as the peer allows them; more than 4096 are 4096. Default: 4096. */
  encoderTableBytesMax?: number
  /** Decoded bytes of a field section, advertised as SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113 section 10.5.1). Default: 65536. */
  fieldSectionBytesMax?: number
  /** Bytes of a header block on the wire; a larger one is answered with 431. Default: 65536. */
  headerBlockBytesMax?: number
  /** CONTINUATION frames of one header block (CVE-2024-27983). Default: 8. */
  continuationsMax?: number
  /** HTTP/2 streams that a client may have open at once, advertised. Default: 100. */
  concurrentStreamsMax?: number
  /** Handlers that run at once per HTTP/2 connection, those of reset streams included (CVE-2023-44487). Default: 200. */
  runningHandlersMax?: number
  /** HTTP/3 request streams that a client may have open at once. Default: 256. */
  requestStreamsMax?: number
  /** Handlers that run at once per HTTP/3 connection. Default: 512. */
  requestHandlersMax?: number
  /** Streams that a peer may reset before they were open for a second, or cause to be reset (CVE-2023-44487, CVE-2025-8671). Of older ones, and whatever their share: twice the
   * burst, ten times the rate. Default: 1000 at once, 33 per second. */
  resets?: Rate
  /** Points for tolerated oddities; a connection drains at 75 % and ends at 100 %. Default: 10000 at once, 330 per second. */
  glitches?: Rate
  /** Frames of a peer that break a rule of their stream, and empty DATA frames that end none, before its connection ends, whatever `resets`
   * says. Default: `resets` and `glitches` bound them. */
  streamErrorsMax?: number
  /** Streams of a peer that are refused one after the other, because it has too many open, before its connection ends, whatever
   * `resets` says. Default: `resets` bounds them. */
  refusedStreamsMax?: number
  /** Bytes of responses that wait on a connection of HTTP/2 before its next streams are refused with ENHANCE_YOUR_CALM; each response may
   * still wait. Default: send buffers bound them. */
  queuedBytesMax?: number
  /** HTTP/2: settings in one SETTINGS frame; more end the connection. Default: 32 with the API of node:http2, otherwise the size of a frame bounds them. */
  settingsPerFrameMax?: number
  /** PING and SETTINGS frames of a peer (CVE-2019-9512, CVE-2019-9515). Default: 100 at once, 10 per second. */
  pings?: Rate
  /** Bytes that wait to be written before a connection is read no further (CVE-2019-9517). Default: 262144. */
  outboxBytesMax?: number
  /** Bytes of a response that wait on one stream before its body is paused. Default: 262144. */
  sendBufferBytesMax?: number
  /** Requests on one connection before it drains. Default: 1073741824. */
  requestsPerConnectionMax?: number
  /** Bytes of the head of an HTTP/1.1 message, start line included. Default: 65536. */
  headBytesMax?: number
  /** Bytes of an HTTP/1.1 request target. Default: 16384. */
  targetBytesMax?: number
  /** Bytes of chunk extensions of one body (CVE-2023-39326). Default: 16384. */
  chunkExtensionBytesMax?: number
  /** Interim (1xx) responses before the final one. Default: 1024. */
  interimResponsesMax?: number
}

/** How long each phase may take, in milliseconds; 0 turns a timeout off. */
export interface Timeouts {
  /** The TLS handshake. Default: 10000. */
  handshake?: number
  /** HTTP/2's preface and first SETTINGS, and the acknowledgement of ours. Default: 10000. */
  settings?: number
  /** A request's head, or a whole header block, from its first byte. Default: 15000. */
  head?: number
  /** HTTP/1.1: the head of a connection's first request, from the start of the connection; then 408. Without it `idle` ends a connection that says
   * nothing, without an answer. Default: 0. */
  firstRequest?: number
  /** Between two pieces of a request's body, while its handler reads and has not answered; HTTP/1.1 answers 408. A handler of `serve` may read on behind its answer: a body of
   * which no byte has come or been read for so long is declined then. Default: 300000. */
  bodyIdle?: number
  /** The peer takes nothing of what waits for it on a connection, or less than `rateMin` gives in `scarceStall` (30 KiB). A player that is
   * paused, or a program at a breakpoint, reads nothing for minutes. Default: 300000. */
  writeStall?: number
  /** The peer takes less of what waits on one HTTP/2 or HTTP/3 stream than its share of what `rateMin` gives in `scarceStall` (CVE-2026-49975).
   * Default: 300000. */
  streamStall?: number
  /** The longest that `writeStall` and `streamStall` are while the server holds three quarters of its `connectionsMax`, or half of `sendBudget` is
   * lent to peers that do not read. 0: they stay as they are. Default: 30000. */
  scarceStall?: number
  /** A connection without a request. Longer than proxies and balancers keep their idle connections (60 s). Default: 75000. */
  idle?: number
  /** HTTP/1.1: the client has ended its side and waits for its answer. Default: 30000. */
  halfClosed?: number
  /** A connection's age, then a graceful drain. Default: 0. */
  ageMax?: number
  /** Bytes per second that a peer must move while an exchange waits for it, over `rateGrace`; 0 turns it off. Default: 1024. */
  rateMin?: number
  /** See `rateMin`. Default: 10000. */
  rateGrace?: number
}

/** Receive windows and buffers, in bytes (docs/windows.md). */
export interface Windows {
  /** SETTINGS_INITIAL_WINDOW_SIZE: what a stream may send before its reader has read. 1 to 2147483647. Default: 65536. */
  streamInitial?: number
  /** How far a stream's window grows by itself. Default: 16777216. */
  streamMax?: number
  /** The connection's window. Default: 16777216. */
  connection?: number
  /**
   * Bytes that the stream windows of one server may take beyond their initial size, all together.
   * Default: 67108864.
   */
  memoryBudget?: number
  /**
   * Bytes that all connections of one server hold for peers that do not read, all together.
   * Default: 67108864.
   */
  sendBudget?: number
  /** False: windows stay at `streamInitial`. Default: true. */
  auto?: boolean
}

/** When a server answers requests itself, with `retry-after`, so that it stays able to serve others. All of it is off by default: the right values depend
 * on what handlers cost, and on how many clients one address has. */
export interface Shedding {
  /** Requests of one IPv4 address or IPv6 network of 64 bits; further ones are answered with 429. Default: no limit. */
  requestsPerAddress?: Rate
  /** Bytes that the connections of one such address may move in both directions; while it has moved more, its requests are answered with 429, for at most
   * a minute after its last byte. A response that has begun is sent to its end. Default: no limit. */
  bytesPerAddress?: Rate
  /** Milliseconds by which the engine's thread or JavaScript's event loop may be behind; while one of them is further, new requests are answered with 503.
   * JavaScript is behind by as long as the oldest event of the engine has waited for it. 0: no limit. Default: 0. */
  lagMax?: number
  /** The share of `windows.sendBudget`, in per cent, that may wait for clients which do not read; while more does, new requests are answered with 503. 0: no
   * limit. Default: 0. */
  sendBudgetPercentMax?: number
  /** Bytes of RAM that the process may have, of at least 1 MiB; while it has more, new requests are answered with 503. Linux only. 0: no limit. Default: 0. */
  processMemoryMax?: number
}

type Check = (value: unknown) => string | undefined
const UNSIGNED_MAX = 2 ** 32 - 1

const whole: Check = value => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= Number.MAX_SAFE_INTEGER ? undefined : 'an integer of at least 0'
const unsigned: Check = value => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= UNSIGNED_MAX ? undefined : `an integer from 0 to ${UNSIGNED_MAX}`
const flag: Check = value => typeof value === 'boolean' ? undefined : 'true or false'
const rate: Check = value => {
  const { burst, perSecond, ...others } = (value ?? {}) as Partial<Rate>
  return unsigned(burst) === undefined && unsigned(perSecond) === undefined && Object.keys(others).length === 0 ? undefined : '{ burst, perSecond }, both integers of at least 0'
}

const LIMITS: Record<keyof Limits, Check> = {
  fieldCountMax: whole, headerTableBytesMax: whole, encoderTableBytesMax: whole, fieldSectionBytesMax: whole, headerBlockBytesMax: whole, continuationsMax: unsigned,
  concurrentStreamsMax: unsigned, runningHandlersMax: unsigned, requestStreamsMax: unsigned, requestHandlersMax: unsigned, resets: rate, glitches: rate,
  pings: rate, streamErrorsMax: unsigned, refusedStreamsMax: unsigned, queuedBytesMax: whole, settingsPerFrameMax: unsigned, outboxBytesMax: whole, sendBufferBytesMax: whole, requestsPerConnectionMax: whole, headBytesMax: whole, targetBytesMax: whole,
  chunkExtensionBytesMax: whole, interimResponsesMax: unsigned
}
const TIMEOUTS: Record<keyof Timeouts, Check> = {
  handshake: whole, settings: whole, head: whole, firstRequest: whole, bodyIdle: whole, writeStall: whole, streamStall: whole, scarceStall: whole, idle: whole, halfClosed: whole, ageMax: whole,
  rateMin: unsigned, rateGrace: whole
}
const percent: Check = value => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 99 ? undefined : 'an integer from 0 to 99'
const someRate: Check = value => {
  const { burst = 0, perSecond = 0 } = (value ?? {}) as Partial<Rate>
  return rate(value) ?? (burst > 0 && perSecond > 0 ? undefined : '{ burst, perSecond }, both integers of at least 1')
}
const SHEDDING: Record<keyof Shedding, Check> = {
  requestsPerAddress: someRate, bytesPerAddress: someRate, lagMax: whole, sendBudgetPercentMax: percent, processMemoryMax: whole
}
const WINDOWS: Record<keyof Windows, Check> = {
  streamInitial: unsigned, streamMax: unsigned, connection: unsigned, memoryBudget: whole, sendBudget: whole, auto: flag
}

/** Throws where an option of a group has no meaning: a name that is not known, or a value out of its range. */
export function checkBounds (options: { limits?: Limits | undefined; timeouts?: Timeouts | undefined; windows?: Windows | undefined; shedding?: Shedding | undefined }): void {
  checkGroup('limits', options.limits, LIMITS)
  checkGroup('timeouts', options.timeouts, TIMEOUTS)
  checkGroup('windows', options.windows, WINDOWS)
  checkGroup('shedding', options.shedding, SHEDDING)
}

function checkGroup (group: string, given: object | undefined, known: Record<string, Check>): void {
  if (given === undefined) return
  if (typeof given !== 'object' || given === null) throw new InvalidArgumentError(`${group} is ${inspect(given)}; it must be an object`)
  for (const [name, value] of Object.entries(given)) {
    const check = Object.hasOwn(known, name) ? known[name] : undefined
    if (check === undefined) {
      const near = nearest(name, Object.keys(known))
      throw new InvalidArgumentError(`${group} has no ${name}; ${near === undefined ? '' : `is ${near} meant? `}it has ${Object.keys(known).join(', ')}`)
    }
    const allowed = value === undefined ? undefined : check(value)
    if (allowed !== undefined) throw new InvalidArgumentError(`${group}.${name} is ${inspect(value)}; it must be ${allowed}`)
  }
}

// Values of options one by one, checked by undici's rules and refused in its words.

import { isIP } from 'node:net'
import { ENGINES_TEXT, isEngine, type Engine } from '../../channel/place'
import { InvalidArgumentError } from '../../errors'

export const refuse = (text: string): never => { throw new InvalidArgumentError(text) }

/** The largest time that an entry of the ring holds, ms: about 24 days, as with Node's timers. */
export const TIME_MS_MAX = 2 ** 31 - 1

/** The largest count that the engine keeps. Programs write "no bound" as a larger one. */
const COUNT_MAX = 2 ** 32 - 1

/** undici's words for values of options that it does not take; for all others `invalid name`. */
const WORDS: Record<string, string> = {
  headersTimeout: 'must be a positive integer or zero',
  bodyTimeout: 'must be a positive integer or zero',
  maxCachedSessions: 'must be a positive integer or zero',
  maxRequestsPerClient: 'must be a positive number',
  autoSelectFamilyAttemptTimeout: 'must be a positive number',
  maxConcurrentStreams: 'must be a positive integer, greater than 0',
  initialWindowSize: 'must be a positive integer, greater than 0',
  connectionWindowSize: 'must be a positive integer, greater than 0',
  pingInterval: 'must be a positive integer, greater or equal to 0'
}

function invalid (name: string): never {
  const words = WORDS[name]
  return refuse(words === undefined ? `invalid ${name}` : `${name} ${words}`)
}

/** A finite number from `least`. */
export function number (name: string, value: unknown, least: number): number | undefined {
  if (value == null) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value) || value < least) return refuse(`invalid ${name}`)
  return value
}

/** A whole number from `least`; one beyond `most` is `most`. */
export function whole (name: string, value: unknown, least: number, most = COUNT_MAX): number | undefined {
  if (value == null) return undefined
  if (!Number.isInteger(value) || (value as number) < least) return invalid(name)
  return Math.min(value as number, most)
}

/** A count of what may be under way at once, from `least`, where undici compares without looking: a fraction has room for one more,
 * Infinity has no bound, and NaN is as if nothing were given. */
export function atOnce (name: string, value: unknown, least: number): number | undefined {
  if (value == null || Number.isNaN(value)) return undefined
  if (typeof value !== 'number' || value < least) return invalid(name)
  return Math.min(Math.ceil(value), COUNT_MAX)
}

/** Requests on one connection of HTTP/1.1; true is 1, false 0 and a text its number, as where undici compares them. */
export function depthOf (value: unknown): number | undefined {
  return atOnce('pipelining', typeof value === 'boolean' || typeof value === 'string' ? Number(value) : value, 0)
}

/** Options that pools and agents read before they copy the others. */
const READ_BEFORE = ['maxOrigins', 'connect']

/** Options of pools and agents as undici copies them for their connections, by JSON: a number that is not finite becomes none. */
export function copied<T extends object> (options: T): T {
  const isCopied = ([name, value]: [string, unknown]): boolean => typeof value !== 'number' || Number.isFinite(value) || READ_BEFORE.includes(name)
  const entries = Object.entries(options)
  return entries.every(isCopied) ? options : Object.fromEntries(entries.filter(isCopied)) as T
}

/** A pool reads this option before it copies the others. */
export function checkConnections (value: unknown): void {
  if (value != null && !Number.isFinite(value)) invalid('connections')
}

/** Bounds of the silence before the kernel asks, ms: those of Linux's TCP_KEEPIDLE, which counts seconds. */
const [PROBE_MS_MIN, PROBE_MS_MAX] = [1000, 32_767_000]

/** The silence before the kernel asks, ms: node:net hands on any number. */
export function probeAfter (value: unknown): number | undefined {
  if (value == null || (typeof value === 'number' && !(value > 0 && value < Infinity))) return undefined
  return Math.min(Math.max(time('keepAliveInitialDelay', value)!, PROBE_MS_MIN), PROBE_MS_MAX)
}

/** A time that undici's timers take as it is: without an end where it has none. */
export function timeOrNever (name: string, value: unknown): number | undefined {
  return value === Infinity || Number.isNaN(value) ? 0 : time(name, value)
}

/** A path of a Unix socket. */
export function pathOf (value: unknown): string | undefined {
  if (value == null) return undefined
  return typeof value === 'string' ? value : refuse('invalid socketPath')
}

export function addressOf (value: unknown): string | undefined {
  if (value == null) return undefined
  return typeof value === 'string' && isIP(value) !== 0 ? value : refuse('localAddress must be valid string IP address')
}

/** Bounds of the engine's wait for an address before it tries the next one too, ms. */
const ATTEMPT_MS_MIN = 10
const ATTEMPT_MS_MAX = 2_000

/** Node.js too takes less than 10 ms for 10. */
export function attemptDelay (value: unknown): number | undefined {
  const ms = whole('autoSelectFamilyAttemptTimeout', value, -1)
  return ms === undefined || ms < 0 ? undefined : Math.min(Math.max(ms, ATTEMPT_MS_MIN), ATTEMPT_MS_MAX)
}

export function time (name: string, value: unknown): number | undefined {
  const ms = number(name, value, 0)
  return ms === undefined ? undefined : Math.min(Math.ceil(ms), TIME_MS_MAX)
}

export function positive (name: string, value: unknown): number | undefined {
  const checked = time(name, value)
  return checked === 0 ? refuse(`invalid ${name}`) : checked
}

export function maxOriginsOf (value: unknown): number {
  if (value === undefined) return Infinity
  if (typeof value === 'number' && value > 0) return value
  return refuse('maxOrigins must be a number greater than 0')
}

export function engineOf (value: unknown): Engine | undefined {
  return value === undefined || isEngine(value) ? value : refuse(`engine must be ${ENGINES_TEXT}`)
}

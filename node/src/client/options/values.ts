// Values of options one by one, checked by undici's rules and refused in its words.

import { isIP } from 'node:net'
import { ENGINES_TEXT, isEngine, type Engine } from '../../channel/place'
import { InvalidArgumentError } from '../../errors'

export const refuse = (text: string): never => { throw new InvalidArgumentError(text) }

/** The largest time that an entry of the ring holds, ms: about 24 days, as with Node's timers. */
const TIME_MS_MAX = 2 ** 31 - 1

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

export function whole (name: string, value: unknown, least: number): number | undefined {
  if (value == null) return undefined
  if (!Number.isInteger(value) || (value as number) < least) return invalid(name)
  return value as number
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

// The bound of settings in one frame, of servers and of clients.

/** The default of node:http2. */
const SETTINGS_DEFAULT = 32
const COUNT_MAX = 2 ** 32 - 1

/** Settings that a SETTINGS frame of the peer may have, by the option `maxSettings`; what is no number is as if it were not given. */
export function settingsMaxOf (given: unknown): number {
  return typeof given === 'number' ? Math.min(Math.max(Math.trunc(given) || 1, 1), COUNT_MAX) : SETTINGS_DEFAULT
}

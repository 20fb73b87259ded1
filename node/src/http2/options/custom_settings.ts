// Settings of extensions (RFC 9113 section 5.5), node:http2's `customSettings`: those that a session sends, and those of its
// peer that its user has listed in `remoteCustomSettings`.

import { coded, invalidType } from '../codes'

/** Identifiers that a user may list: MAX_ADDITIONAL_SETTINGS of node:http2. */
const LISTED_MAX = 10
/** RFC 9113 section 6.5.1: 16 bits. */
const ID_MAX = 0xffff
/** As above: 32 bits. */
const VALUE_MAX = 0xffff_ffff
/** The identifiers up to here are not an extension's (RFC 9113 section 6.5.2, RFC 8441 section 3, RFC 9218 section 2.1). */
const KNOWN_ID_MAX = 9
/** Numbers in front of the extensions' in what the machine says of a peer's settings. */
const KNOWN_COUNT = 7

export type CustomSettings = Record<string, number>

/** Throws node's errors for a list of identifiers that cannot be used. */
export function checkListed (ids: unknown): asserts ids is number[] | undefined {
  if (ids === undefined) return
  if (!Array.isArray(ids)) throw invalidType('options.remoteCustomSettings', 'an instance of Array', ids)
  if (ids.length > LISTED_MAX) throw coded(Error, 'ERR_HTTP2_TOO_MANY_CUSTOM_SETTINGS', 'Number of custom settings exceeds MAX_ADDITIONAL_SETTINGS')
  for (const id of ids as unknown[]) {
    if (typeof id === 'number' && id >= 0 && id <= ID_MAX) continue
    throw Object.assign(coded(RangeError, 'ERR_HTTP2_INVALID_SETTING_VALUE', `Invalid value for setting "Range Error": ${String(id)}`), { actual: id, min: 0, max: ID_MAX })
  }
}

/** The settings of `customSettings` that are an extension's and in their range, each with its identifier. */
export function extensionsOf (custom: unknown): [number, number][] {
  if (typeof custom !== 'object' || custom === null) return []
  const pairs: [number, number][] = []
  for (const [name, value] of Object.entries(custom)) {
    const id = Number(name)
    const isId = Number.isInteger(id) && id > KNOWN_ID_MAX && id <= ID_MAX
    if (isId && typeof value === 'number' && value >= 0 && value <= VALUE_MAX) pairs.push([id, Math.trunc(value)])
  }
  return pairs
}

interface WithCustom { customSettings?: CustomSettings | undefined }

/** Adds to `next` what `before` and `changes` say of extensions, if they say anything. */
export function withCustom<S extends WithCustom> (next: S, before: WithCustom, changes: WithCustom): S {
  const pairs = extensionsOf(changes.customSettings)
  if (pairs.length > 0) next.customSettings = { ...before.customSettings, ...Object.fromEntries(pairs) }
  return next
}

/** Adds to a peer's settings those of extensions that are listed, of the frame with these values and of earlier ones. */
export function withListed<S extends WithCustom> (next: S, before: WithCustom, values: readonly (number | undefined)[], listed: readonly number[]): S {
  const custom = { ...before.customSettings }
  for (let at = KNOWN_COUNT; at + 1 < values.length; at += 2) if (listed.includes(values[at]!)) custom[values[at]!] = values[at + 1]!
  if (Object.keys(custom).length > 0) next.customSettings = custom
  return next
}

// Loads the native addon: from beside the package in development, else from the platform's package.

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { seeHelp } from '../errors/help'
import { host, packageOf, PLATFORMS } from './platforms'

/** The return value of the addon's `open`, which `node/native/environment.rs` builds. */
export interface Native {
  control: ArrayBuffer
  submissions: ArrayBuffer
  submissionArena: ArrayBuffer
  completions: ArrayBuffer
  completionArena: ArrayBuffer
  entries: number
  arenaBytes: number
  /** Whether the engine runs on this thread. */
  inline: 0 | 1
  /** The engine sleeps and something was submitted, or it holds completions back. */
  kick: () => void
  /** Whether the process must stay alive. */
  hold: (holds: 0 | 1) => void
  /** Copies bytes for the engine; returns where they lie. */
  put: (bytes: Uint8Array) => number
  /** The bytes that the engine put there. */
  take: (place: number) => Buffer
  /** A cold call: JSON in, JSON out. */
  ask: (verb: string, text: string) => string
}

interface Addon {
  open: (drain: () => void, place: 0 | 1 | 2) => Native
  /** Reads at most `bytes` of what the system has of a file in memory; the position -1 is the descriptor's own. Returns how many were read, 0 at the
   * end, -1 where none can be without waiting. */
  readCached: (descriptor: number, into: Uint8Array, bytes: number, position: number) => number
  /** Reads the regular file at `path` whole, where the system has it in memory and `into` has room. Returns its bytes, or -1; in the eight bytes of `facts`
   * is its `mtimeMs`, as a double. */
  fileCached: (path: string, into: Uint8Array, facts: Uint8Array) => number
}

/** The addon is not there, or is not this version's. */
class AddonError extends Error {
  readonly code = 'TRUNKLINE_ADDON'
  constructor (message: string, options?: ErrorOptions) {
    super(`trunkline: ${message}${seeHelp('TRUNKLINE_ADDON')}`, options)
    this.name = 'AddonError'
  }
}

/** This file. A bundle of ES modules has no name of it: then the program. */
const here = typeof __filename === 'string' ? __filename : resolve(process.argv[1] ?? 'program.js')
/** The `require` of Node.js: that of a bundle (webpack, Rollup) knows only the files that were found when the bundle was built. */
const requireAtRun = createRequire(here)

/** Loads the addon for this environment. */
export function load (): Addon {
  const near = join(dirname(here), '..', '..', 'addon', 'trunkline.node')
  return existsSync(near) ? requireAtRun(near) as Addon : installed(host())
}

function installed (name: string): Addon {
  const platform = `${name} (platform ${process.platform}, arch ${process.arch}${libcIn(name)})`
  if (!PLATFORMS.some(known => known.name === name)) {
    const all = PLATFORMS.map(platform => platform.name).join(', ')
    throw new AddonError(`there is no prebuilt addon for ${platform}; there are ${all}`)
  }
  const own = packageOf(name)
  const found = versionOf(own)
  if (found === null) {
    const others = PLATFORMS.map(platform => packageOf(platform.name)).filter(other => versionOf(other) !== null)
    const instead = others.length > 0 ? `; installed is ${others.join(', ')}, of another platform` : ''
    throw new AddonError(`the addon for ${platform} is not installed: the package ${own} is missing${instead}. ` +
      'Run npm install again on this platform, and without --omit=optional')
  }
  const version = (require('../../package.json') as { version: string }).version
  if (found !== version) {
    throw new AddonError(`trunkline ${version} needs ${own} ${version}, and ${found} is installed: run npm install again`)
  }
  try {
    return requireAtRun(own) as Addon
  } catch (cause) {
    throw new AddonError(`the addon for ${platform} cannot be loaded: ${(cause as Error).message}`, { cause })
  }
}

function libcIn (name: string): string {
  const [, , libc] = name.split('-')
  return libc === undefined ? '' : `, libc ${libc}`
}

/** The version of an installed package; null: it is not there. */
function versionOf (name: string): string | null {
  try {
    return (requireAtRun(`${name}/package.json`) as { version: string }).version
  } catch {
    return null
  }
}

// Finds the native part: beside the package while developing, else in the platform's own package.

import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** What `open` of the addon returns: `node/native/environment.rs` makes it. */
export interface Native {
  control: ArrayBuffer
  submissions: ArrayBuffer
  submissionArena: ArrayBuffer
  completions: ArrayBuffer
  completionArena: ArrayBuffer
  entries: number
  arenaBytes: number
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

interface Addon { open: (drain: () => void) => Native }

/** `linux-x64-gnu`, as the platforms' packages are named. */
function platform (): string {
  const { platform, arch } = process
  if (platform !== 'linux') return `${platform}-${arch}`
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined
  return `linux-${arch}-${report?.header?.glibcVersionRuntime ? 'gnu' : 'musl'}`
}

/** Loads the addon for this environment. */
export function load (): Addon {
  const name = `trunkline-${platform()}`
  const near = join(__dirname, '..', 'addon', 'trunkline.node')
  try {
    return require(existsSync(near) ? near : name) as Addon
  } catch (cause) {
    const text = `trunkline has no native part for this platform: the package ${name} is missing or cannot be loaded. ` +
      'Install it, and see that optional dependencies are not left out (npm: no --omit=optional).'
    throw new Error(text, { cause })
  }
}

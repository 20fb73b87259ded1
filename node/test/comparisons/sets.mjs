// The registry: every set of programs that are run on the original and on this package.
import { readdirSync } from 'node:fs'

/** A set's programs are in `folder`. `isGenerated`: made of a table of combinations, several run at once; the others
 * are written one by one and run one after another. `original` is the module that ours is compared with, and `package` the
 * line of it, undici's newest unless it is said. */
export const SETS = {
  client: { folder: 'client/programs/', original: 'undici', isGenerated: false },
  'client documented': { folder: 'client/documented/', original: 'undici', isGenerated: false },
  // One after another: subscribers of channels and the global dispatcher are the process's.
  'client by page': { folder: 'client/pages/', original: 'undici', isGenerated: false },
  'client cases': { folder: 'client/cases/', original: 'undici', isGenerated: false },
  // One after another: an exception that nothing catches is of the program that runs.
  'client throws': { folder: 'client/throws/', original: 'undici', isGenerated: false },
  'client generated': { folder: 'client/generated/', original: 'undici', isGenerated: true },
  'client of each line, undici 8': { folder: 'client/lines/', original: 'undici', isGenerated: true },
  'client of each line, undici 7': { folder: 'client/lines/', original: 'undici', package: 'undici7', isGenerated: true },
  'client of each line, undici 6': { folder: 'client/lines/', original: 'undici', package: 'undici6', isGenerated: true },
  'client stacked': { folder: 'client/stacks/', original: 'undici', isGenerated: true },
  'fetch generated': { folder: 'client/fetch/', original: 'undici', isGenerated: true },
  server: { folder: 'server/programs/', original: 'node:http2', isGenerated: false },
  'server over TLS': { folder: 'server/programs/', original: 'node:http2', isGenerated: false, isSecure: true },
  'server of node:http': { folder: 'server/http/', original: 'node:http', isGenerated: true },
  'server generated': { folder: 'server/generated/', original: 'node:http2', isGenerated: true },
  'server by sequence': { folder: 'server/sequences/', original: 'node:http2', isGenerated: true },
  // The sessions of Node 20 and 22 now and then end their process, with a failed assertion or a broken heap.
  'connect generated': { folder: 'connect/generated/', original: 'node:http2', isGenerated: true, isClient: true, lineMin: 24 },
  'connect by sequence': { folder: 'connect/sequences/', original: 'node:http2', isGenerated: true, isClient: true, lineMin: 24 },
  // Bun runs the original in its own process.
  serve: { folder: 'serve/generated/', original: 'bun', isGenerated: true }
}
/** The oldest line of Node.js that the original of a set runs on: undici 8 needs 22. */
export const lineMinOf = set => SETS[set].lineMin ?? (SETS[set].original === 'undici' ? 22 : 0)
export const WRITTEN = Object.keys(SETS).filter(set => !SETS[set].isGenerated)
export const GENERATED = Object.keys(SETS).filter(set => SETS[set].isGenerated)

/** The programs of a set by name: `file: name`. */
export async function programsOf (set) {
  const folder = new URL(SETS[set].folder, import.meta.url)
  const programs = new Map()
  for (const file of readdirSync(folder).sort()) {
    const { default: own } = await import(new URL(file, folder))
    for (const [name, program] of Object.entries(own)) programs.set(`${file.replace('.mjs', '')}: ${name}`, program)
  }
  return programs
}

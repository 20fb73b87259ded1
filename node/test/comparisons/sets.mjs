// The registry: every set of programs that are run on the original and on this package.
import { readdirSync } from 'node:fs'

/** Programs of node:http that are none under TLS: a socket of node:tls cannot be reset, the call throws; whether a client that goes has left
 * a session ticket unread, so that its system resets, and whether an answer has been encrypted in the turn of its end, are matters of time. */
const UNDER_TLS = /reset|the client destroys$|^sequences: .*: end.*, then (write|end)|a second end$/i

/** A set's programs are in `folder`. `isGenerated`: made of a table of combinations, several run at once; the others
 * are written one by one and run one after another. `original` is the module that ours is compared with, and `package` the
 * line of it, undici's newest unless it is said. `without`: names of programs of the folder that are not of the set. */
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
  'server of node:https': { folder: 'server/http/', original: 'node:http', isGenerated: true, isSecure: true, without: UNDER_TLS },
  'server with allowHTTP1': { folder: 'server/http/', original: 'allowHTTP1', isGenerated: true, isSecure: true, without: UNDER_TLS },
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

/** The programs of a set by name: `file: name`; without those that it cannot have. */
export async function programsOf (set) {
  const { folder: path, without } = SETS[set]
  const folder = new URL(path, import.meta.url)
  const programs = new Map()
  for (const file of readdirSync(folder).sort()) {
    const { default: own } = await import(new URL(file, folder))
    for (const [name, program] of Object.entries(own)) if (without?.test(name) !== true) programs.set(`${file.replace('.mjs', '')}: ${name}`, program)
  }
  return programs
}

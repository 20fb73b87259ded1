// Checks packed packages: their entries by publint, their types in each mode of TypeScript's resolution by attw, what npm
// would publish, and whether they run in Bun and Deno.
// node check.mjs TARBALL..
import { execFileSync } from 'node:child_process'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npm } from './npm.mjs'
import { host, runtimes } from './runtimes.mjs'

const bin = fileURLToPath(new URL('node_modules/.bin/', import.meta.url))
const packages = process.argv.slice(2).map(path => resolve(path))
const isMain = path => /^trunkline-\d/.test(basename(path))
const run = (program, ...args) => execFileSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] })

for (const path of packages) {
  // Suggestions are failures too.
  run(join(bin, 'publint'), 'run', path, '--strict', '--level', 'suggestion')
  const listed = JSON.parse(npm(['publish', '--dry-run', '--json', '--access', 'public', path], { encoding: 'utf8' }))
  const { name, version, files } = listed.files === undefined ? Object.values(listed)[0] : listed
  console.log(`${name} ${version}: ${files.length} files`)
}
const main = packages.find(isMain)
if (main !== undefined) {
  const attw = (...args) => run(join(bin, 'attw'), main, '--format', 'ascii', '--no-emoji', ...args)
  attw('--profile', 'node16', '--exclude-entrypoints', 'register')
  // A module that only `--import` loads.
  attw('--profile', 'esm-only', '--entrypoints', 'register')
  const addon = packages.find(path => basename(path).startsWith(`trunkline-${host}-`))
  if (addon !== undefined) runtimes(bin, main, addon)
}

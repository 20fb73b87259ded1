// One folder per application under target/apps: what it needs, by exact version, and a copy of its program.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const node = resolve(here, '../..')
const target = process.env.CARGO_TARGET_DIR ?? resolve(node, '../target')
/** An installation takes seconds; a registry that does not answer must not hold the others. */
const INSTALL_MS = 300_000

/** The folder of an application; `trunkline` is found in the folder above it. */
export function folderOf ({ name }) {
  return join(target, 'apps', name)
}

/** Installs an application where what is there is not what is asked for; undefined, or a sentence that says why not. */
export function install (row, kind) {
  const folder = folderOf(row)
  const beside = join(target, 'apps', 'node_modules')
  mkdirSync(folder, { recursive: true })
  mkdirSync(beside, { recursive: true })
  if (!existsSync(join(beside, 'trunkline'))) symlinkSync(node, join(beside, 'trunkline'), 'dir')
  const program = join(here, kind, `${row.program ?? row.name}.mjs`)
  cpSync(program, join(folder, 'app.mjs'))
  if (row.with !== undefined) cpSync(join(here, kind, row.with), join(folder, row.with))
  const files = join(here, kind, row.program ?? row.name)
  if (existsSync(files)) cpSync(files, folder, { recursive: true })
  const asked = `${JSON.stringify({ name: `app-${row.name}`, private: true, type: row.type, dependencies: row.packages }, null, 2)}\n`
  const manifest = join(folder, 'package.json')
  const done = join(folder, 'node_modules', '.installed')
  if (existsSync(done) && readFileSync(done, 'utf8') === asked) return undefined
  rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
  rmSync(join(folder, 'package-lock.json'), { force: true })
  writeFileSync(manifest, asked)
  // Scripts of packages are not run: none of these applications needs one.
  const npm = spawnSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'],
    { cwd: folder, encoding: 'utf8', timeout: INSTALL_MS })
  if (npm.status !== 0) return (npm.stderr ?? '').split('\n').find(line => /npm error/.test(line)) ?? String(npm.error ?? `npm ended with ${npm.status}`)
  writeFileSync(done, asked)
  return undefined
}

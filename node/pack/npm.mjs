// Runs npm.
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'

/** `npm` with these arguments. On Windows it is a script of cmd.exe, whose quoting is left out by naming its JavaScript. */
export function npm (args, options) {
  if (process.platform !== 'win32') return execFileSync('npm', args, options)
  return execFileSync(process.execPath, [join(dirname(process.execPath), 'node_modules/npm/bin/npm-cli.js'), ...args], options)
}

/** Installs tarballs in a folder, and asks no registry: all that is needed is in them. */
export function installOffline (place, ...tarballs) {
  npm(['install', '--offline', '--no-audit', '--no-fund', '--loglevel', 'error', ...tarballs], { cwd: place, stdio: 'inherit' })
}

// Runs the installed package in Bun and in Deno, a part of `consumer/runtime.mjs` in each process.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installOffline } from './npm.mjs'

const require = createRequire(import.meta.url)
export const host = require('../dist/channel/platforms.js').host()
/** Milliseconds until a part must have ended. */
const PATIENCE = 60_000

/** Every part in each runtime whose program is in `bin`; a part that fails or does not end throws. */
export function runtimes (bin, main, addon) {
  const programs = { Node: [process.execPath], Bun: [join(bin, 'bun')], Deno: [join(bin, 'deno'), 'run', '--allow-all', '--quiet'] }
  const place = mkdtempSync(join(tmpdir(), 'trunkline-runtimes-'))
  try {
    cpSync(fileURLToPath(new URL('consumer/runtime.mjs', import.meta.url)), join(place, 'runtime.mjs'))
    writeFileSync(join(place, 'package.json'), '{ "name": "consumer", "private": true }\n')
    installOffline(place, main, addon)
    const parts = execFileSync(process.execPath, ['runtime.mjs'], { cwd: place, encoding: 'utf8' }).trim().split('\n')
    for (const [name, [program, ...args]] of Object.entries(programs)) {
      for (const part of parts) {
        const ended = spawnSync(program, [...args, 'runtime.mjs', part], { cwd: place, encoding: 'utf8', timeout: PATIENCE })
        assert.equal(ended.stdout.trim(), 'ok', `${name}: ${part}\n${ended.stderr}`)
        assert.equal(ended.status, 0, `${name}: ${part} ended with ${ended.status ?? ended.signal}`)
      }
      console.log(`${name}: ${parts.length} parts work (${parts.join(', ')})`)
    }
  } finally {
    rmSync(place, { recursive: true })
  }
}

// Installs the tarballs in an empty folder and uses them there, on every line of Node.js that the
// tests have: as an ES module, by require, and by TypeScript's compiler; and sees what is said
// where the addon is missing.
// node smoke.mjs MAIN ADDON
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lines } from '../test/support/lines/lines.mjs'
import { installOffline } from './npm.mjs'

const [main, addon] = process.argv.slice(2)
const node = fileURLToPath(new URL('..', import.meta.url))
const programs = { [process.version]: process.execPath, ...lines }
const place = mkdtempSync(join(tmpdir(), 'trunkline-smoke-'))

function install (...tarballs) {
  writeFileSync(join(place, 'package.json'), '{ "name": "consumer", "private": true }\n')
  rmSync(join(place, 'node_modules'), { recursive: true, force: true })
  rmSync(join(place, 'package-lock.json'), { force: true })
  installOffline(place, ...tarballs)
}

try {
  cpSync(join(node, 'pack', 'consumer'), place, { recursive: true })
  install(main, addon)
  for (const [line, program] of Object.entries(programs)) {
    for (const file of ['module.mjs', 'required.cjs']) {
      const printed = execFileSync(program, [join(place, file)], { cwd: place, encoding: 'utf8', timeout: 60_000 })
      assert.equal(printed.trim(), 'ok', `${line}: ${file}`)
    }
    console.log(`${line}: import and require of the installed package work`)
  }

  const types = ['--typeRoots', join(node, 'node_modules', '@types'), '--types', 'node']
  const strict = ['--strict', '--noEmit', '--module', 'node16', '--target', 'es2022']
  execFileSync(process.execPath, [join(node, 'node_modules/typescript/bin/tsc'), ...strict, ...types, 'typed.mts', 'typed.cts'], { cwd: place, stdio: 'inherit' })
  console.log('the types serve ES modules and CommonJS')

  install(main)
  const use = ['-e', "const { Agent } = require('trunkline'); new Agent()"]
  const elsewhere = ['-e', "Object.defineProperty(process, 'arch', { value: 'ppc64' }); const { Agent } = require('trunkline'); new Agent()"]
  for (const [line, program] of Object.entries(programs)) {
    const missing = spawnSync(program, use, { cwd: place, encoding: 'utf8' })
    assert.notEqual(missing.status, 0)
    assert.match(missing.stderr, /AddonError: trunkline: the addon for [\w-]+ \(platform \w+, arch \w+.*\) is not installed: the package @trunkline\/[\w-]+ is missing/, line)
    const foreign = spawnSync(program, elsewhere, { cwd: place, encoding: 'utf8' })
    assert.match(foreign.stderr, /there is no prebuilt addon for \w+-ppc64.*; there are linux-x64-gnu, /, line)
  }
  console.log('where the addon is missing, the error says what is there')
} finally {
  rmSync(place, { recursive: true })
}

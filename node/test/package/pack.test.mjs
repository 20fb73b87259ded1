// The content of the packages, without a release build of the addon: `make node-pack` has that, and
// installs them.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import test from 'node:test'
import { inspect, packMain } from '../../pack/make.mjs'

const require = createRequire(import.meta.url)
const { host, packageOf, PLATFORMS } = require('../../dist/channel/platforms.js')
const root = new URL('../../../', import.meta.url)

/** A folder that goes with the test. */
function folder (t) {
  const made = mkdtempSync(join(tmpdir(), 'trunkline-test-pack-'))
  t.after(() => { rmSync(made, { recursive: true }) })
  return made
}

test('the main package has code, types and licences, no source map, and names the package of every platform', t => {
  const out = folder(t)
  const { tarball } = packMain(out)
  const list = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
  for (const file of ['index.mjs', 'index.d.mts', 'http2.mjs', 'http2.d.mts', 'register.mjs', 'register.d.mts', 'dist/index.js', 'dist/index.d.ts', 'README.md', 'LICENSE-MIT', 'LICENSE-APACHE']) {
    assert.ok(list.includes(`package/${file}`), file)
  }
  const foreign = list.filter(file => !/^package\/(dist\/([\w-]+\/)*[\w-]+(\.d)?\.[jt]s|(index|http2|register)\.mjs|(index|http2|register)\.d\.mts|README\.md|docs\/node-[\w-]+\.md|LICENSE-\w+|package\.json)$/.test(file))
  assert.deepEqual(foreign, [])
  for (const page of list.filter(file => file.endsWith('.md'))) {
    const text = execFileSync('tar', ['-xzOf', tarball, page], { encoding: 'utf8' })
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)/g)].map(([, to]) => to).filter(Boolean)
    for (const to of links) assert.ok(list.includes(posix.join(posix.dirname(page), to)), `${page} links ${to}`)
  }
  const printed = JSON.parse(execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }))
  const all = Object.fromEntries(PLATFORMS.map(({ name }) => [packageOf(name), printed.version]))
  assert.deepEqual(printed.optionalDependencies, all)
  assert.equal(printed.scripts, undefined)
  assert.equal(printed.devDependencies, undefined)
})

test("a package with a source map or with a path of this machine is refused", t => {
  const staged = folder(t)
  writeFileSync(join(staged, 'fine.js'), 'exports.fine = true\n')
  inspect(staged)
  writeFileSync(join(staged, 'code.js'), '//# sourceMappingURL=code.js.map\n')
  assert.throws(() => inspect(staged), /source map/)
  rmSync(join(staged, 'code.js'))
  writeFileSync(join(staged, 'addon.node'), `at ${root.pathname}engine/src/lib.rs`)
  assert.throws(() => inspect(staged), /of this machine/)
})

test('the workflow builds every platform of the table, and this one is in it', () => {
  const workflow = readFileSync(new URL('.github/workflows/node-pack.yml', root), 'utf8')
  const built = [...workflow.matchAll(/platform: ([\w-]+)/g)].map(([, name]) => name)
  assert.deepEqual(built, PLATFORMS.map(({ name }) => name))
  assert.ok(PLATFORMS.some(({ name }) => name === host()))
})

// The package as a part of a bundle.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { dirname } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'

const require = createRequire(import.meta.url)

const file = fileURLToPath(new URL('../../dist/channel/addon.js', import.meta.url))
const BUNDLED = ['./platforms', '../errors/help']

/** The module that loads the addon, in a bundle, whose `require` knows only what was found when the bundle was built. */
function bundled (names, values) {
  const ofBundle = name => {
    if (!isBuiltin(name) && !BUNDLED.includes(name)) throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' })
    return isBuiltin(name) ? require(name) : require(`../../dist/channel/${name}`)
  }
  const exports = {}
  vm.compileFunction(readFileSync(file, 'utf8'), ['exports', 'require', ...names])(exports, ofBundle, ...values)
  return exports
}

test('the addon is loaded where the require of a bundle knows only what was found when it was built', () => {
  assert.equal(typeof bundled(['__filename', '__dirname'], [file, dirname(file)]).load().open, 'function')
})

test('the addon is loaded from beside the program in a bundle of ES modules, which has no name of its file', t => {
  const [, program] = process.argv
  t.after(() => { process.argv[1] = program })
  process.argv[1] = file
  assert.equal(typeof bundled([], []).load().open, 'function')
})

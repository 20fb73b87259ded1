// Every test file on every line of Node.js that is installed beside the tests, but on the one that runs, which has
// them from `npm test`. `npm test` runs a part of them on the others; what it leaves out is printed first.
// node lines/all.mjs [LINE..]
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { lines } from '../support/lines/lines.mjs'
import { ON_OUTERMOST_LINES } from '../support/lines/on_line.mjs'

const folder = fileURLToPath(new URL('..', import.meta.url))
const asked = process.argv.slice(2)
const unknown = asked.filter(line => lines[line] === undefined)
if (unknown.length > 0) throw new Error(`no line ${unknown.join(', ')}; installed beside this one are ${Object.keys(lines).join(', ') || 'none'}`)

// Files about lines start the others themselves.
const files = testFiles('').filter(name => !name.startsWith('lines/'))
const leftOut = files.map(name => name.slice(0, -'.test.mjs'.length)).filter(name => !ON_OUTERMOST_LINES.includes(name))
console.log(`npm test leaves out on other lines than its own: ${leftOut.join(', ')}`)
console.log(`and on lines between the oldest and the newest: ${ON_OUTERMOST_LINES.join(', ')}`)

/** The files of tests in a folder and in those in it; not those of packages. */
function testFiles (prefix) {
  return readdirSync(folder + prefix, { withFileTypes: true }).flatMap(entry => {
    const path = prefix + entry.name
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : testFiles(`${path}/`)
    return entry.name.endsWith('.test.mjs') ? [path] : []
  })
}

/** Resolves to whether every file passed. */
const passes = program => new Promise((resolve, reject) => {
  const flags = ['--import=./support/ends.mjs', '--test', '--test-reporter=./support/reporter.mjs', '--test-concurrency=1', '--test-timeout=300000']
  const child = spawn(program, [...flags, ...files], { cwd: folder, stdio: 'inherit' })
  child.once('error', reject).once('exit', code => { resolve(code === 0) })
})

const failed = []
for (const line of asked.length > 0 ? asked : Object.keys(lines)) {
  console.log(`== ${line}`)
  if (!await passes(lines[line])) failed.push(line)
}
if (failed.length > 0) throw new Error(`not every file passes on ${failed.join(', ')}`)

// Runs the fetch tests of web-platform-tests with Node.js's own fetch and with ours, side by side, and prints the share of subtests
// that each passes. Exit code 1: a subtest that Node.js's own passes, and ours does not, is not among the expected ones.
//
// node test/wpt/run.mjs [--verbose] [--corpus FOLDER] [part of a path]
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { expected, leftOut } from './expected.mjs'
import { start } from './server.mjs'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { verbose: { type: 'boolean' }, corpus: { type: 'string' }, json: { type: 'boolean' } } })
const corpus = resolve(values.corpus ?? process.env.TRUNKLINE_WPT ?? join(import.meta.dirname ?? '.', '../../../../shared/corpora/wpt'))
if (!existsSync(join(corpus, 'resources', 'testharness.js'))) {
  console.error(`there are no web-platform-tests in ${corpus}; name their folder with --corpus or TRUNKLINE_WPT`)
  process.exit(2)
}
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
process.removeAllListeners('warning')

const FOLDERS = ['fetch', 'mimesniff', 'xhr/formdata']
const RUNS_AT_ONCE = 3
/** Ms that a file may take, and one that says it is long. */
const [TIME_MAX, LONG_TIME_MAX] = [10_000, 30_000]

/** The files with their META lines. */
function * tests () {
  for (const folder of FOLDERS) {
    for (const entry of readdirSync(join(corpus, folder), { recursive: true })) {
      const file = join(folder, entry)
      if (!/\.(?:any|window)\.js$/.test(file)) continue
      const text = readFileSync(join(corpus, file), 'utf8')
      const meta = [...text.matchAll(/^\/\/ META: (\w+)=(.*)$/gm)]
      const all = name => meta.filter(([, key]) => key === name).map(([, , value]) => value.trim())
      const variants = all('variant')
      for (const variant of variants.length === 0 ? [''] : variants) {
        yield { file, name: file + variant, variant, text, scripts: all('script'), isLong: all('timeout').includes('long') }
      }
    }
  }
}

const LATE = 'it took too long'

/** Runs one file; the subtests by name. A machine that is busy with others gets a second, longer chance. */
async function run (test, isOurs, ports) {
  const made = await runWithin(test, isOurs, ports, test.isLong ? LONG_TIME_MAX : TIME_MAX)
  return made.problems.includes(LATE) && !test.isLong ? await runWithin(test, isOurs, ports, LONG_TIME_MAX) : made
}

function runWithin (test, isOurs, ports, limit) {
  const isTls = /\.(?:https|h2)\./.test(test.file)
  const scheme = isTls ? 'https' : 'http'
  const href = `${scheme}://localhost:${ports[scheme][0]}/${test.file}${test.variant}`
  const worker = new Worker(new URL('worker.mjs', import.meta.url), {
    workerData: { folder: corpus, file: test.file, scripts: test.scripts, href, ports, isOurs }, stdout: true, stderr: true
  })
  worker.stdout.resume()
  worker.stderr.resume()
  const results = new Map()
  const problems = []
  return new Promise(resolve => {
    const timer = setTimeout(() => {
      problems.push(LATE)
      void worker.terminate()
    }, limit)
    worker.on('message', message => {
      if (message.kind === 'result') results.set(message.name, message)
      else if (message.kind === 'error') problems.push(message.text)
      else void worker.terminate()
    })
    worker.on('error', error => { problems.push(String(error?.stack ?? error)) })
    worker.on('exit', () => {
      clearTimeout(timer)
      resolve({ results, problems })
    })
  })
}

const { ports, stop } = await start(corpus)
const queue = [...tests()].filter(test => positionals.every(part => test.name.includes(part)))
const counts = { run: 0, leftOut: 0, subtests: 0, theirs: 0, ours: 0 }
const [worse, better] = [[], []]
const passes = (results, name) => results.get(name)?.isPassed === true

async function next () {
  for (let test = queue.shift(); test !== undefined; test = queue.shift()) {
    const why = leftOut(test.file, test.text)
    if (why !== undefined) {
      counts.leftOut++
      if (values.verbose) console.log(`left out  ${test.name}: ${why}`)
      continue
    }
    const theirs = await run(test, false, ports)
    const ours = await run(test, true, ports)
    counts.run++
    for (const name of new Set([...theirs.results.keys(), ...ours.results.keys()])) {
      counts.subtests++
      const [they, we] = [passes(theirs.results, name), passes(ours.results, name)]
      if (they) counts.theirs++
      if (we) counts.ours++
      const line = { file: test.name, name, why: ours.results.get(name)?.message ?? 'it did not end', problems: ours.problems }
      if (they && !we) worse.push(line)
      if (we && !they) better.push(line)
      else if (!we && !they && values.verbose) console.log(`neither   ${test.name}: ${name}: ${line.why}`)
    }
    if (values.verbose && ours.results.size === 0) console.log(`nothing   ${test.name}: ${ours.problems.join('; ').slice(0, 200)}`)
  }
}
await Promise.all(Array.from({ length: RUNS_AT_ONCE }, next))
await stop()

const share = count => `${count} of ${counts.subtests} (${(100 * count / counts.subtests).toFixed(1)} %)`
console.log(`web-platform-tests, fetch, ${counts.run} files (${counts.leftOut} left out by rule), Node.js ${process.version}`)
console.log(`  Node.js's own fetch passes ${share(counts.theirs)}`)
console.log(`  this package's passes      ${share(counts.ours)}`)
const unexpected = worse.filter(({ file, name }) => expected(file, name) === undefined)
for (const { file, name, why } of worse) console.log(`worse     ${file}: ${name}: ${expected(file, name) ?? `UNEXPECTED: ${why}`}`)
if (values.verbose) for (const { file, name } of better) console.log(`better    ${file}: ${name}`)
console.log(`${worse.length} that Node.js's own passes and ours does not, ${unexpected.length} of them unexpected; ${better.length} the other way`)
process.exit(unexpected.length > 0 ? 1 : 0)

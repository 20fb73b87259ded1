// Loaded before every file of tests. A test that stands still, or a file that does not end behind its
// last test because something was left open, is named and ends its file: it does not stand there until
// the runner's limit, which knows of files alone.
import { after, afterEach, beforeEach } from 'node:test'

/** A test may run three processes after another, each of which has two minutes, or a file of tests, which has more; one
 * that runs within another test has less. Where builds keep all cores busy a program gets a tenth of a core. */
const TEST_MS_MAX = Number(process.env.TRUNKLINE_TEST_MS_MAX ?? 600_000)
const ENDING_MS_MAX = 60_000

const timers = new Map()

/** Handles that keep the process, counted by kind. */
function holders () {
  const counts = new Map()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return Array.from(counts, ([kind, count]) => `${count} ${kind}`).join(', ')
}

function expect (name, ms, what) {
  const late = () => {
    console.error(`${process.argv[1]}: ${what} behind ${ms / 1000} s, held by: ${holders()}`)
    process.exit(1)
  }
  timers.set(name, setTimeout(late, ms).unref())
}

function forget (name) {
  clearTimeout(timers.get(name))
  timers.delete(name)
}

const END = Symbol('the end of the file')

// The runner itself has no tests; a file that is run without it has.
if (process.env.NODE_TEST_CONTEXT !== undefined || !process.execArgv.includes('--test')) {
  beforeEach(({ name }) => {
    // A file may wait between two tests.
    forget(END)
    expect(name, TEST_MS_MAX, `"${name}" was not over`)
  })
  afterEach(({ name }) => { forget(name) })
  after(() => { expect(END, ENDING_MS_MAX, 'all its tests were over, and the file had not ended') })
}

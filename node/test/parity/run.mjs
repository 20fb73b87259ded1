// Runs every program, or those whose name has the text given, with one module; prints a line of JSON
// for each: its file, its name, and what it said.
//   node run.mjs node|trunkline [text]
import { readdirSync } from 'node:fs'
import { differentOn } from './different.mjs'
import { Stage, shown } from './stage.mjs'

/** How long a program may take; one that waits for what is not there yet says so sooner. */
const PROGRAM_MS_MAX = 20_000
const NOT_YET_MS_MAX = 500

const [subject, text = ''] = process.argv.slice(2)
/** Those that are run, where not all are: `file: name`. */
const only = process.env.PARITY_ONLY === undefined ? undefined : JSON.parse(process.env.PARITY_ONLY)
const http2 = subject === 'node' ? (await import('node:http2')).default : (await import('trunkline')).http2
process.removeAllListeners('warning')

const different = differentOn(process.version)
let stage
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, error => { stage?.log('process')(event, error instanceof Error ? error : shown(error)) })
}

async function play (program, limit) {
  stage = new Stage()
  let timer
  const late = new Promise(resolve => { timer = setTimeout(resolve, limit, 'late') })
  try {
    if (await Promise.race([program(http2, stage), late]) === 'late') stage.log('stage')('the program did not end')
  } catch (error) {
    stage.log('stage')('the program threw', error, error?.message)
  }
  clearTimeout(timer)
  await stage.part()
  return stage.lines()
}

const folder = new URL('programs/', import.meta.url)
for (const file of readdirSync(folder).sort()) {
  const { default: programs } = await import(new URL(file, folder))
  for (const [name, program] of Object.entries(programs)) {
    if (!`${file} ${name}`.includes(text)) continue
    const group = file.replace('.mjs', '')
    if (only?.includes(`${group}: ${name}`) === false) continue
    const isLate = subject !== 'node' && different[`${group}: ${name}`]?.startsWith('not yet')
    const lines = await play(program, isLate ? NOT_YET_MS_MAX : PROGRAM_MS_MAX)
    console.log(JSON.stringify({ file: group, name, lines }))
  }
}
process.exit(0)

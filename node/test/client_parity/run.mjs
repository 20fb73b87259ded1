// Runs every program, or those whose name has the text given, with one module; prints a line of JSON
// for each: its file, its name, and what it said.
//   node run.mjs undici|trunkline programs|tables [text]
import { readdirSync } from 'node:fs'
import { Stage, shown } from './stage.mjs'

/** How long a program may take, on a busy machine too; each of them ends with undici. */
const PROGRAM_MS_MAX = Number(process.env.PROGRAM_MS_MAX ?? 60_000)

const [subject, kind = 'programs', text = ''] = process.argv.slice(2)
const module = await import(subject === 'undici' ? 'undici8' : 'trunkline')
process.removeAllListeners('warning')
/** Those that are run, where not all are: `file: name`. */
const only = process.env.PARITY_ONLY === undefined ? undefined : JSON.parse(process.env.PARITY_ONLY)

let stage
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, error => { stage?.log('process')(event, error instanceof Error ? error : shown(error)) })
}
process.on('warning', warning => {
  // undici's advice on names of options comes once for a process, in whichever program is there then.
  if (warning.code === 'UNDICI-H2-OPTIONS') return
  stage?.log('process')('warning', warning.name, warning.code ?? '')
})

async function play (program) {
  stage = new Stage()
  let timer
  const late = new Promise(resolve => { timer = setTimeout(resolve, PROGRAM_MS_MAX, 'late') })
  try {
    if (await Promise.race([program(module, stage), late]) === 'late') stage.log('stage')('the program did not end')
  } catch (error) {
    stage.log('stage')('the program threw', error, error?.message)
  }
  clearTimeout(timer)
  const lines = stage.lines()
  await Promise.race([stage.part().catch(() => {}), new Promise(resolve => { setTimeout(resolve, 2000).unref() })])
  return lines
}

const folder = new URL(`${kind}/`, import.meta.url)
for (const file of readdirSync(folder).sort()) {
  const { default: programs } = await import(new URL(file, folder))
  for (const [name, program] of Object.entries(programs)) {
    if (!`${file} ${name}`.includes(text)) continue
    if (only?.includes(`${file.replace('.mjs', '')}: ${name}`) === false) continue
    console.log(JSON.stringify({ file: file.replace('.mjs', ''), name, lines: await play(program) }))
  }
}
process.exit(0)

// `make apps [NAME..]`: real applications, installed by exact version, on the servers of Node.js and on ours, and SDKs over
// node's own transport and over ours: the same requests must have the same answers. Prints a table; ends with 1 where
// something differs that `different.mjs` does not name.
import { spawn } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { certFile } from '../support/certificates/certificate.mjs'
import { known } from './different.mjs'
import { folderOf, install } from './install.mjs'
import { clients, hosts, programs, servers } from './list.mjs'
import { differences } from './outcome.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const CERTIFICATES = new URL('../support/certificates/certificate.mjs', import.meta.url).href
/** Some of them compile when they start. */
const CELL_MS = 400_000

/** Runs a cell in a process of its own; what it prints, or `{ failed }`. */
function cell (script, name, ...face) {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [join(here, script), name, ...face], {
      cwd: folderOf({ name }), stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_EXTRA_CA_CERTS: certFile, CERTIFICATE_MODULE: CERTIFICATES, NODE_ENV: 'production', NO_COLOR: '1' }
    })
    const timer = setTimeout(() => { child.kill('SIGKILL') }, CELL_MS)
    const [out, err] = [[], []]
    child.stdout.on('data', chunk => { out.push(chunk) })
    child.stderr.on('data', chunk => { err.push(chunk) })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(Buffer.concat(out).toString().trim().split('\n').at(-1)))
      } catch {
        const last = Buffer.concat(err).toString().trim()
        resolve({ failed: `the process ended with ${code ?? signal}: ${last.slice(-2000)}` })
      }
    })
  })
}

/** Whether the length of a body is said by one server and left to the framing by the other: ours says it where an answer ends
 * in the turn in which it begins. That of HEAD is the answer itself. */
function isFraming (request, path, expected, got) {
  return path.endsWith('headers.content-length') && (expected === undefined || got === undefined) && !request.includes('HEAD')
}

/** A cell's text in the table, and every difference that nothing explains. */
function judged (reference, result, row, column, at) {
  if (result.failed !== undefined) return { text: 'does not start', unexplained: [result.failed] }
  const outcomes = result.result[at]
  if (outcomes === undefined) return { text: '', unexplained: [] }
  const byName = new Map(reference)
  const [differing, unexplained] = [new Set(), []]
  const reasons = new Set()
  for (const [name, outcome] of outcomes) {
    if (!byName.has(name)) continue
    for (const { path, expected, got, text } of differences(byName.get(name), outcome)) {
      if (isFraming(name, path, expected, got)) continue
      const reason = known.find(one => one.row.test(row) && one.column.test(column) && one.request.test(name) && one.path.test(path))
      if (reason === undefined) unexplained.push(`${name}: ${text}`)
      else reasons.add(reason.id)
      differing.add(name)
    }
  }
  for (const problem of result.problems) unexplained.push(problem)
  const all = outcomes.length
  const text = differing.size === 0 ? `same (${all})` : unexplained.length === 0 ? `same but ${[...reasons].sort().join(', ')}` : `${differing.size} of ${all} differ`
  return { text, unexplained }
}

/** Runs a server's row; its cells by column. */
async function serverRow (row) {
  const prepared = join(folderOf(row), 'node_modules', '.prepared')
  if (!existsSync(prepared)) {
    const { prepare } = await import(pathToFileURL(join(folderOf(row), 'app.mjs')))
    prepare?.()
    writeFileSync(prepared, '')
  }
  const columns = {}
  const http2 = await cell('server_cell.mjs', row.name, 'http2')
  const own = row.own === 'http2' ? http2 : await cell('server_cell.mjs', row.name, 'https')
  if (own.failed !== undefined) return { failed: own.failed }
  const of = version => own.result[version] ?? own.result.h2 ?? own.result.h1
  columns['node:http2'] = judged(of('h2'), http2, row.name, 'node:http2', 'h2')
  columns['node:http2'].unexplained = []
  for (const face of row.faces) {
    const result = await cell('server_cell.mjs', row.name, face)
    for (const version of ['h1', 'h2', 'h3']) {
      const column = `${face} ${version}`
      columns[column] = judged(of(version), result, row.name, column, version)
    }
  }
  return { columns, count: Object.values(own.result)[0].length }
}

/** Runs a client's row. */
async function clientRow (row) {
  const own = await cell('client_cell.mjs', row.name, 'own')
  if (own.failed !== undefined) return { failed: own.failed }
  const ours = await cell('client_cell.mjs', row.name, 'ours')
  const columns = {}
  for (const version of ['h1', 'h2', 'h3']) columns[version] = judged(own.result.h1, ours, row.name, version, version)
  return { columns, count: own.result.h1.length }
}

/** A program's client and server: which of them is ours. */
const SIDES = { client: ['ours', 'own'], server: ['own', 'ours'], both: ['ours', 'ours'] }

/** Runs a program's row. */
async function programRow (row) {
  const own = await cell('program_cell.mjs', row.name, 'own', 'own')
  if (own.failed !== undefined) return { failed: own.failed }
  const columns = {}
  for (const [column, sides] of Object.entries(SIDES)) {
    columns[column] = judged(own.result.all, await cell('program_cell.mjs', row.name, ...sides), row.name, column, 'all')
  }
  return { columns, count: own.result.all.length }
}

/** Runs the row of a program around servers and clients. */
async function hostRow (row) {
  const own = await cell('host_cell.mjs', row.name, 'own')
  if (own.failed !== undefined) return { failed: own.failed }
  const columns = {}
  for (const side of row.sides) columns[side] = judged(own.result.all, await cell('host_cell.mjs', row.name, side), row.name, side, 'all')
  return { columns, count: own.result.all.length }
}

/** Aligned columns of Markdown. */
function table (head, rows) {
  const widths = head.map((text, at) => Math.max(text.length, ...rows.map(row => row[at].length)))
  const line = row => `| ${row.map((text, at) => text.padEnd(widths[at])).join(' | ')} |`
  return [line(head), `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n')
}

const SERVER_COLUMNS = ['node:http2', ...['listener', 'compatible', 'serve'].flatMap(face => ['h1', 'h2', 'h3'].map(version => `${face} ${version}`))]

/** Runs all rows of a kind; its table. */
async function runAll (kind, rows, columns, run, found) {
  const lines = []
  for (const row of rows) {
    const version = Object.values(row.packages)[0]
    const label = `${row.name} ${version}`
    const why = row.needs !== undefined && !process.env[row.needs] ? `${row.needs} names no program` : install(row, kind)
    if (why !== undefined) {
      process.stderr.write(`${row.name} is left out: ${why}\n`)
      lines.push([label, `left out: ${why}`, ...columns.slice(1).map(() => '')])
      continue
    }
    process.stderr.write(`${label}\n`)
    const outcome = await run(row).catch(error => ({ failed: error.message }))
    if (outcome.failed !== undefined) {
      found.push(`${row.name} on node's own: ${outcome.failed}`)
      lines.push([label, 'does not start', ...columns.slice(1).map(() => '')])
      continue
    }
    for (const [column, { unexplained }] of Object.entries(outcome.columns)) {
      for (const one of unexplained) found.push(`${row.name}, ${column}: ${one}`)
    }
    lines.push([label, ...columns.map(column => outcome.columns[column]?.text ?? '')])
  }
  return table([kind, ...columns], lines)
}

const asked = process.argv.slice(2)
if (asked[0] === '--fresh') for (const row of [...servers, ...clients, ...programs, ...hosts]) rmSync(folderOf(row), { recursive: true, force: true })
const names = asked.filter(name => !name.startsWith('--'))
const unknown = names.filter(name => ![...servers, ...clients, ...programs, ...hosts].some(row => row.name === name))
if (unknown.length > 0) {
  process.stderr.write(`no application '${unknown[0]}'; there are ${[...servers, ...clients, ...programs, ...hosts].map(({ name }) => name).join(', ')}\n`)
  process.exit(2)
}
const chosen = rows => rows.filter(({ name }) => names.length === 0 || names.includes(name))
const found = []
const tables = []
if (chosen(servers).length > 0) tables.push(await runAll('servers', chosen(servers), SERVER_COLUMNS, serverRow, found))
if (chosen(clients).length > 0) tables.push(await runAll('clients', chosen(clients), ['h1', 'h2', 'h3'], clientRow, found))
if (chosen(programs).length > 0) tables.push(await runAll('programs', chosen(programs), Object.keys(SIDES), programRow, found))
if (chosen(hosts).length > 0) tables.push(await runAll('hosts', chosen(hosts), ['ours', 'serve'], hostRow, found))
console.log(tables.join('\n\n'))
for (const one of found) console.log(`differs: ${one}`)
process.exitCode = found.length > 0 ? 1 : 0

// The tables of docs/guide/node-differences.md, made of the accepted differences.
//   node tables.mjs            writes them
//   node tables.mjs --print    prints the page with them
import { readFileSync, writeFileSync } from 'node:fs'
import { differences } from './differences.mjs'
import { entryOf } from './reasons.mjs'

export const page = new URL('../../../docs/guide/node-differences.md', import.meta.url)
const OF = {
  client: ['client', 'client documented', 'client by page', 'client cases', 'client throws', 'client generated', 'client of each line, undici 8', 'client stacked', 'fetch generated'],
  server: ['server', 'server generated', 'server by sequence'],
  http: ['server of node:http', 'server of node:https', 'server with allowHTTP1'],
  connect: ['connect generated', 'connect by sequence'],
  serve: ['serve']
}

/** One row for a reason, with the programs that it is of. */
function table (sets) {
  const rows = new Map()
  for (const set of sets) {
    for (const [key, value] of Object.entries(differences[set])) {
      const { reason, lines } = entryOf(value)
      const label = lines.length === 0 ? key : `${key} (Node ${lines.join(', ')})`
      const labels = rows.get(reason) ?? []
      if (!labels.includes(label)) rows.set(reason, [...labels, label])
    }
  }
  const cell = text => text.replaceAll('|', '\\|').replaceAll('*', '\\*')
  return ['| why ours differs | programs |', '|---|---|', ...[...rows].map(([reason, keys]) => `| ${cell(reason)} | ${cell(keys.join('; '))} |`)].join('\n')
}

/** The page with fresh tables between its markers. */
export function fresh (text) {
  for (const [name, sets] of Object.entries(OF)) {
    const [begin, end] = [`<!-- differences: ${name} -->`, '<!-- end of differences -->']
    const from = text.indexOf(begin)
    const to = text.indexOf(end, from)
    if (from < 0 || to < 0) throw new Error(`the page has no ${begin} .. ${end}`)
    text = `${text.slice(0, from + begin.length)}\n${table(sets)}\n${text.slice(to)}`
  }
  return text
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const text = fresh(readFileSync(page, 'utf8'))
  if (process.argv.includes('--print')) process.stdout.write(text)
  else writeFileSync(page, text)
}

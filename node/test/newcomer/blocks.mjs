// The code blocks of README.md, node/README.md and docs/guide. The words behind a block's language say how it is tried:
//   (none)    a program: it must end with exit code 0, and print the block `text output` that follows it
//   server    a program that listens on the port that it names: it must answer a request
//   client    a program that runs beside the last `server` of its page
//   fragment  a part of a program: not tried
//   untyped   JavaScript that TypeScript would want words for: not compiled
// `diff js`, `diff rust` and `diff sh` hold two programs; the new one is tried. A block `sh` is tried where a word says so.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../', import.meta.url))

const LANGUAGES = ['js', 'ts', 'rust', 'sh', 'diff', 'text', 'json', 'toml', 'ini', 'dockerfile']
const WORDS = ['server', 'client', 'fragment', 'run', 'js', 'rust', 'sh', 'output', 'untyped']

/** The documents that strangers read first, by their path in the project. */
export function pages () {
  const inside = folder => readdirSync(root + folder, { withFileTypes: true }).flatMap(entry => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? inside(path) : path.endsWith('.md') ? [path] : []
  })
  return ['README.md', 'node/README.md', ...inside('docs/guide').sort()]
}

/** The program that a diff leads to. */
const after = text => text.split('\n').filter(line => !line.startsWith('-')).map(line => line.slice(1)).join('\n')

/** The blocks of a text: language, words, code, and the line of the fence. A block whose language or words have no meaning is an error. */
export function blocksOf (path, text) {
  const blocks = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const fence = lines[at].match(/^```(\S+)\s*(.*)$/)
    if (fence === null) continue
    const end = lines.indexOf('```', at)
    const where = `${path}:${at + 1}`
    if (end === -1) throw new Error(`${where}: the block has no end`)
    const [, first, rest] = fence
    const words = rest.split(' ').filter(Boolean)
    const unknown = LANGUAGES.includes(first) ? words.find(word => !WORDS.includes(word)) : first
    if (unknown !== undefined) throw new Error(`${where}: "${unknown}" is neither a language (${LANGUAGES.join(', ')}) nor a word (${WORDS.join(', ')})`)
    const code = `${lines.slice(at + 1, end).join('\n')}\n`
    const language = first === 'diff' ? words[0] : first
    blocks.push({ where, path, language, words, code: first === 'diff' ? after(code) : code })
    at = end
  }
  blocks.forEach((block, index) => {
    const next = blocks[index + 1]
    if (next?.language === 'text' && next.words.includes('output')) block.output = next.code
  })
  return blocks
}

/** The blocks of every page. */
export const blocks = () => pages().flatMap(path => blocksOf(path, readFileSync(root + path, 'utf8')))

export const isProgram = block => ['js', 'ts', 'rust'].includes(block.language) && !block.words.includes('fragment')

// Copies the guide, and the documents that its summary names, into one folder for mdBook. Links between them lead to their place in the book; links to other
// files of the project, which a reader of the site does not have, become their text.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

const GUIDE = 'docs/guide'
/** The folder of generated pages, and of documents from outside the guide. */
const REFERENCE = 'reference'

/** Where the document `path` of the project stands in the book. */
const placeOf = path => path.startsWith(`${GUIDE}/`) ? path.slice(GUIDE.length + 1) : posix.join(REFERENCE, path.replace(/^docs\//, ''))

/** Links of a text, with those in its code left alone: `change` gets text, target and anchor. */
function withLinks (text, change) {
  let isCode = false
  return text.split('\n').map(line => {
    if (/^\s*```/.test(line)) isCode = !isCode
    if (isCode) return line
    return line.replaceAll(/(!?)\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)/g, (whole, image, words, target, anchor) => {
      return /^[a-z]+:/.test(target) || target === '' ? whole : change({ whole, image, words, target, anchor: anchor ?? '' })
    })
  }).join('\n')
}

/** Makes links of the names of pages that are beside the book, which are there only when the site is built. */
const linked = text => text.replaceAll(/`(api\/[\w/]+\.html)`/g, '[`$1`]($1)')

/** Fills `folder` from `root`; `generated` has the text of each page whose summary's entry has no file, by its title. */
export function stage (root, folder, generated) {
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(root, GUIDE), folder, { recursive: true })
  const summary = readFileSync(join(root, GUIDE, 'SUMMARY.md'), 'utf8')
  const documents = new Map()
  const entries = withLinks(summary, ({ words, target }) => {
    const path = posix.join(GUIDE, target)
    documents.set(path, placeOf(path))
    return `[${words}](${placeOf(path)})`
  })
  const write = (place, text) => { mkdirSync(dirname(join(folder, place)), { recursive: true }); writeFileSync(join(folder, place), text) }
  const own = entries.replaceAll(/\[([^\]]+)\]\(\)/g, (_, title) => {
    const text = generated[title]
    if (text === undefined) throw new Error(`SUMMARY.md: "${title}" has neither a file nor a generator`)
    const place = `${REFERENCE}/${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.md`
    write(place, text)
    return `[${title}](${place})`
  })
  write('SUMMARY.md', own)
  for (const [path, place] of documents) write(place, linked(rewritten(root, folder, path, place, documents)))
  const listed = new Set(documents.values())
  for (const entry of readdirSync(join(root, GUIDE), { recursive: true })) {
    if (entry.endsWith('.md') && entry !== 'SUMMARY.md' && !listed.has(entry)) throw new Error(`SUMMARY.md does not name ${entry}`)
  }
}

/** The text of a document, with its links as they are in the book. */
function rewritten (root, folder, path, place, documents) {
  return withLinks(readFileSync(join(root, path), 'utf8'), ({ image, words, target, anchor }) => {
    const to = posix.join(posix.dirname(path), target)
    const found = documents.get(to)
    if (found !== undefined) return `[${words}](${posix.relative(posix.dirname(place), found)}${anchor})`
    if (image === '') return words
    const copy = placeOf(to)
    mkdirSync(dirname(join(folder, copy)), { recursive: true })
    cpSync(join(root, to), join(folder, copy))
    return `![${words}](${posix.relative(posix.dirname(place), copy)})`
  })
}
